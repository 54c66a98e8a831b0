// Command controlplane is a Kubernetes control plane in one executable, for tests and demos on
// machines where only a Go toolchain is at hand. The first argument names the component; all that
// follows is handed to it unchanged. One executable instead of four because the components share
// most of their packages: it is linked once and stored once.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	_ "time/tzdata" // CronJob schedules name time zones; the machine may have no zone database

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // credential plugins of kubectl
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client metrics on /metrics
	_ "k8s.io/component-base/metrics/prometheus/version"  // build metric on /metrics
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

// components maps the first argument to what runs; each one ends the process itself or returns.
var components = map[string]func(){
	"etcd":                    func() { etcdmain.Main(os.Args) },
	"kube-apiserver":          func() { runServer(apiserver.NewAPIServerCommand()) },
	"kube-controller-manager": func() { runServer(controllermanager.NewControllerManagerCommand()) },
	"kubectl":                 runKubectl,
}

func main() {
	if len(os.Args) < 2 {
		usage("no component named")
	}
	name := os.Args[1]
	run, known := components[name]
	if !known {
		usage(fmt.Sprintf("unknown component %q", name))
	}
	// The components find their arguments and their name for messages in os.Args.
	os.Args = append([]string{name}, os.Args[2:]...)
	run()
}

func runServer(command *cobra.Command) {
	os.Exit(cli.Run(command))
}

func runKubectl() {
	// Verbosity has to be known before the command tree exists: building it already reads files.
	// An unparsable value is reported by the flag parser afterwards.
	_, _ = logs.GlogSetter(cmd.GetLogVerbosity(os.Args))
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}

func usage(fault string) {
	names := make([]string, 0, len(components))
	for name := range components {
		names = append(names, name)
	}
	slices.Sort(names)
	program := filepath.Base(os.Args[0])
	fmt.Fprintf(os.Stderr, "%s: %s\nusage: %s {%s} [argument...]\n",
		program, fault, program, strings.Join(names, "|"))
	os.Exit(2)
}
