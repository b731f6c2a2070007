package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"
)

// settingsFile resolves flags from a YAML file. Its keys are the flags' names; what is
// below the name of a command counts for that command only.
type settingsFile struct{ values map[string]any }

// loadSettings reads a settings file.
func loadSettings(r io.Reader) (kong.Resolver, error) {
	f := settingsFile{}
	if err := yaml.NewDecoder(r).Decode(&f.values); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read the settings file: %w", err)
	}
	return f, nil
}

// Validate refuses keys that name no flag: a mistyped setting would be its default.
func (f settingsFile) Validate(app *kong.Application) error {
	known := map[string]bool{}
	flagsBelow(app.Node, known)
	return f.check("", f.values, app.Node, known)
}

func (f settingsFile) check(path string, values map[string]any, at *kong.Node, known map[string]bool) error {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		below, nested := values[key].(map[string]any)
		command := commandOf(at, key)
		switch {
		case nested && command != nil:
			flags := map[string]bool{}
			flagsBelow(command, flags)
			if err := f.check(path+key+".", below, command, flags); err != nil {
				return err
			}
		case !known[key]:
			return fmt.Errorf("settings file: there is no setting %s%s%s", path, key, similar(key, known))
		}
	}
	return nil
}

// Resolve returns the value of a flag: that of the command, else that of all commands.
func (f settingsFile) Resolve(_ *kong.Context, parent *kong.Path, flag *kong.Flag) (any, error) {
	var commands []string
	for n := parent.Node(); n != nil && n.Type != kong.ApplicationNode; n = n.Parent {
		commands = append([]string{n.Name}, commands...)
	}
	at, value := f.values, f.values[flag.Name]
	for _, name := range commands {
		below, nested := at[name].(map[string]any)
		if !nested {
			break
		}
		at = below
		if own, set := at[flag.Name]; set {
			value = own
		}
	}
	return value, nil
}

// flagsBelow collects the names of the flags of a command and of those below it.
func flagsBelow(n *kong.Node, names map[string]bool) {
	for _, flag := range n.Flags {
		names[flag.Name] = true
	}
	for _, child := range n.Children {
		flagsBelow(child, names)
	}
}

func commandOf(n *kong.Node, name string) *kong.Node {
	i := slices.IndexFunc(n.Children, func(c *kong.Node) bool { return c.Type == kong.CommandNode && c.Name == name })
	if i < 0 {
		return nil
	}
	return n.Children[i]
}

// similar names a setting that may have been meant, or nothing.
func similar(key string, known map[string]bool) string {
	plain := func(s string) string { return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(s)) }
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if a, b := plain(name), plain(key); a == b || strings.HasPrefix(a, b) || strings.HasPrefix(b, a) {
			return "; did you mean " + name + "?"
		}
	}
	return ""
}
