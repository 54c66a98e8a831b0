// Command gitops says how healthy objects are by the rules of GitOps tools.
//
// It reads a JSON array of cases from standard input, each with an object, a health check of Argo CD
// in Lua and a health check of Flux in CEL, and writes an array of verdicts in the same order.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/argoproj/argo-cd/v3/resource_customizations"
	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	luajson "layeh.com/gopher-json"
)

type testCase struct {
	Object *unstructured.Unstructured       `json:"object"`
	Lua    string                           `json:"lua"`
	CEL    kustomize.HealthCheckExpressions `json:"cel"`
}

type health struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

type verdict struct {
	Kstatus health `json:"kstatus"`
	Argo    health `json:"argo"`
	Flux    health `json:"flux"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run() error {
	var cases []testCase
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		return err
	}
	verdicts := make([]verdict, 0, len(cases))
	for number, each := range cases {
		found, err := judge(each)
		if err != nil {
			return fmt.Errorf("case %d: %w", number, err)
		}
		verdicts = append(verdicts, found)
	}
	return json.NewEncoder(os.Stdout).Encode(verdicts)
}

func judge(each testCase) (verdict, error) {
	computed, err := status.Compute(each.Object)
	if err != nil {
		return verdict{}, fmt.Errorf("kstatus: %w", err)
	}
	argo, err := argoHealth(each.Object, each.Lua)
	if err != nil {
		return verdict{}, fmt.Errorf("Argo CD: %w", err)
	}
	flux, err := fluxHealth(each.Object, &each.CEL)
	if err != nil {
		return verdict{}, fmt.Errorf("Flux: %w", err)
	}
	return verdict{
		Kstatus: health{computed.Status.String(), computed.Message},
		Argo:    argo,
		Flux:    flux,
	}, nil
}

// fluxHealth is kustomize-controller's: its own evaluator for kinds that have expressions.
func fluxHealth(object *unstructured.Unstructured, exprs *kustomize.HealthCheckExpressions) (health, error) {
	if exprs.Current == "" {
		result, err := status.Compute(object)
		if err != nil {
			return health{}, err
		}
		return health{result.Status.String(), result.Message}, nil
	}
	evaluator, err := cel.NewStatusEvaluator(exprs)
	if err != nil {
		return health{}, err
	}
	result, err := evaluator.Evaluate(context.Background(), object)
	if err != nil {
		return health{}, err
	}
	return health{result.Status.String(), result.Message}, nil
}

// ownScript is what Argo CD itself has for a kind; empty if it has nothing, and takes it for healthy.
func ownScript(object *unstructured.Unstructured) string {
	kind := object.GroupVersionKind()
	script, err := resource_customizations.Embedded.ReadFile(kind.Group + "/" + kind.Kind + "/health.lua")
	if err != nil {
		return ""
	}
	return string(script)
}

// argoHealth runs a script, Argo CD's own if there is none, in what Argo CD gives it without `useOpenLibs`: the object as the global
// `obj`, the libraries for modules, basics and tables (none for strings), and a second of time.
func argoHealth(object *unstructured.Unstructured, script string) (health, error) {
	if script == "" {
		if script = ownScript(object); script == "" {
			return health{Status: "Healthy"}, nil
		}
	}
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{
		lua.LoadLibName: lua.OpenPackage,
		lua.BaseLibName: lua.OpenBase,
		lua.TabLibName:  lua.OpenTable,
	} {
		state.Push(state.NewFunction(open))
		state.Push(lua.LString(name))
		state.Call(1, 0)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	state.SetContext(ctx)
	state.SetGlobal("obj", luajson.DecodeValue(state, plain(object.Object)))
	if err := state.DoString(script); err != nil {
		return health{}, err
	}
	answer := state.Get(-1)
	if answer.Type() != lua.LTTable {
		return health{}, fmt.Errorf("the script returned %s and no table", answer.Type())
	}
	data, err := luajson.Encode(answer)
	if err != nil {
		return health{}, err
	}
	var found health
	if err := json.Unmarshal(data, &found); err != nil {
		return health{}, err
	}
	switch found.Status {
	case "Unknown", "Progressing", "Suspended", "Healthy", "Degraded", "Missing":
		return found, nil
	}
	return health{}, errors.New("the script returned no status of Argo CD: " + found.Status)
}

// plain has numbers as Lua has them.
func plain(value any) any {
	switch value := value.(type) {
	case int64:
		return float64(value)
	case []any:
		items := make([]any, len(value))
		for index, item := range value {
			items[index] = plain(item)
		}
		return items
	case map[string]any:
		fields := make(map[string]any, len(value))
		for key, item := range value {
			fields[key] = plain(item)
		}
		return fields
	}
	return value
}
