package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// step is a target that ran.
type step struct {
	name      string
	took      time.Duration
	processor time.Duration
	found     map[string]usage // by folder of a package, or kind of program
}

// bounded are the steps whose costs have a budget. What others cost depends on what the caches of
// compiler and linters hold; so do the compiler's own.
var bounded = []string{"test", "race", "prove"}

// line is what a part of a step cost.
type line struct {
	step, part string
	units      float64
	memory     int64     // bytes
	tests      []timings // of a package, the longest first
}

// name identifies the line in the budget.
func (l line) name() string { return l.step + " " + l.part }

// inBudget reports whether the line has a budget.
func (l line) inBudget() bool { return slices.Contains(bounded, l.step) && l.part != compiling }

// timings are of one test.
type timings struct {
	test  string
	units float64
}

// costs returns the lines of all steps, the most expensive of each step first.
func costs(steps []step, unit time.Duration, tests map[string][]timings) []line {
	var list []line
	for _, s := range steps {
		parts := map[string]usage{}
		counted := time.Duration(0)
		for at, u := range s.found {
			part := at
			if !strings.HasPrefix(at, "(") {
				part = packageOf(at)
			}
			sum := parts[part]
			parts[part] = usage{sum.processor + u.processor, max(sum.memory, u.memory)}
			counted += u.processor
		}
		rest := parts[others] // what ended between two looks counts for no package
		rest.processor += max(0, s.processor-counted)
		parts[others] = rest
		var lines []line
		for part, u := range parts {
			l := line{step: s.name, part: part, units: float64(u.processor) / float64(unit), memory: u.memory}
			if s.name == "test" {
				for _, one := range tests[part] {
					l.tests = append(l.tests, timings{one.test, one.units * float64(time.Second) / float64(unit)})
				}
			}
			lines = append(lines, l)
		}
		slices.SortFunc(lines, func(a, b line) int { return int(1000 * (b.units - a.units)) })
		list = append(list, lines...)
	}
	return list
}

// packageOf returns the path of a folder in the checkout or in its copy.
func packageOf(folder string) string {
	here, err := os.Getwd()
	if err != nil {
		return folder
	}
	if rel, err := filepath.Rel(here, folder); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	const copied = "/perennial/test/source/"
	if _, rel, is := strings.Cut(folder, copied); is {
		return rel
	}
	return folder
}

// testsFile is what the runner of the tests writes.
const testsFile = "bin/tests.json"

// readTests returns how long the tests of each package took, in seconds, the longest first.
func readTests(file string) (map[string][]timings, error) {
	text, err := os.ReadFile(filepath.Clean(file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found := map[string][]timings{}
	for row := range bytes.Lines(text) {
		var event struct {
			Action, Package, Test string
			Elapsed               float64
		}
		if err := json.Unmarshal(row, &event); err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		if event.Action == "pass" && event.Test != "" && !strings.Contains(event.Test, "/") {
			_, at, _ := strings.Cut(strings.TrimPrefix(event.Package, "github.com/"), "/perennial/")
			found[at] = append(found[at], timings{event.Test, event.Elapsed})
		}
	}
	for at := range maps.Keys(found) {
		slices.SortFunc(found[at], func(a, b timings) int { return int(1000 * (b.units - a.units)) })
	}
	return found, nil
}
