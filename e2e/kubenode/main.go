// Command kubenode is what makes a machine a node of a cluster, and the scheduler that gives it
// work, in one executable. The first argument names the component; all that follows is handed to it
// unchanged. It is a module of its own beside the control plane, which most tests need alone.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client metrics on /metrics
	_ "k8s.io/component-base/metrics/prometheus/version"  // build metric on /metrics
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

// components maps the first argument to the command that it runs.
var components = map[string]func() *cobra.Command{
	"kube-proxy":     proxy.NewProxyCommand,
	"kube-scheduler": func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	"kubelet":        func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) },
}

func main() {
	if len(os.Args) < 2 {
		usage("no component named")
	}
	name := os.Args[1]
	command, known := components[name]
	if !known {
		usage(fmt.Sprintf("unknown component %q", name))
	}
	// The components find their arguments and their name for messages in os.Args.
	os.Args = append([]string{name}, os.Args[2:]...)
	os.Exit(cli.Run(command()))
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
