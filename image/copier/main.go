// Command copier copies files within pods, also in images that hold nothing that could: it is copied
// into these first. Its name says what it does:
//
//	cp [-R] [-v] SOURCE TARGET     copies a file, as that of coreutils, which our image lacks
//	cpb TARGET                     copies the bundle that the image holds
//	copy-content --catalog.from=FOLDER --catalog.to=FOLDER [--cache.from=FOLDER --cache.to=FOLDER]
//
// Names and arguments are those of upstream's images, so that the pods are the same with either.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Of a registry+v1 bundle, from its root.
var bundleFolders = []string{"manifests", "metadata"}

func main() {
	name := filepath.Base(os.Args[0])
	if err := run(name, os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

func run(name string, arguments []string) error {
	switch name {
	case "cp":
		return copyNamed(arguments)
	case "cpb":
		return copyBundle(arguments)
	case "copy-content":
		return copyContent(arguments)
	}
	return fmt.Errorf("is called cp, cpb or copy-content")
}

func copyNamed(arguments []string) error {
	var paths []string
	for _, each := range arguments {
		if !strings.HasPrefix(each, "-") {
			paths = append(paths, each)
		} else if strings.Trim(each, "-Rv") != "" {
			return fmt.Errorf("unknown option %s", each)
		}
	}
	if len(paths) != 2 {
		return fmt.Errorf("usage: cp [-R] [-v] SOURCE TARGET")
	}
	return copyFile(paths[0], paths[1])
}

func copyBundle(arguments []string) error {
	if len(arguments) != 1 {
		return fmt.Errorf("usage: cpb TARGET")
	}
	for _, folder := range bundleFolders {
		if err := copyFolder("/"+folder, filepath.Join(arguments[0], folder)); err != nil {
			return err
		}
	}
	return nil
}

func copyContent(arguments []string) error {
	flags := flag.NewFlagSet("copy-content", flag.ContinueOnError)
	catalog, to := flags.String("catalog.from", "", ""), flags.String("catalog.to", "", "")
	cache, cacheTo := flags.String("cache.from", "", ""), flags.String("cache.to", "", "")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if err := copyFolder(*catalog, *to); err != nil || *cache == "" {
		return err
	}
	return copyFolder(*cache, *cacheTo)
}

// A container may run again on the same volume: what it left is replaced.
func copyFolder(source, target string) error {
	if source == "" || target == "" {
		return fmt.Errorf("it takes a folder to copy from and one to copy to")
	}
	if err := os.RemoveAll(target); err != nil {
		return err
	}
	if err := os.CopyFS(target, os.DirFS(source)); err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	return nil
}

func copyFile(source, target string) error {
	from, err := os.Open(source)
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	to, err := os.OpenFile(target, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return err
	}
	if _, err := io.Copy(to, from); err != nil {
		to.Close()
		return err
	}
	return to.Close()
}
