package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// allowed is a budget with a package and a step.
const allowed = head + "10.0 test internal/app\n\t4.0 TestOld\n\t2.0 TestSame\n50.0 prove (other programs)\n\n# 2026-11-28: first\n"

func budgetOf(t *testing.T, text string) budget {
	t.Helper()
	file := filepath.Join(t.TempDir(), "budget.txt")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := readBudget(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBudgetIsExceededByPackageOrSum(t *testing.T) {
	t.Parallel()
	app := func(units float64) line {
		return line{step: "test", part: "internal/app", units: units, tests: []timings{{"TestNew", 9}, {"TestOld", 5}, {"TestSame", 2}}}
	}
	proof := func(units float64) line { return line{step: "prove", part: others, units: units} }
	for _, row := range []struct {
		name  string
		now   []line
		wants []string // of the error; none: there is no error
	}{
		{"as allowed", []line{app(10), proof(50)}, nil},
		{"a package just below twice its line", []line{app(19.9), proof(50)}, nil},
		{"a package above twice its line", []line{app(20.1), proof(50)}, []string{"test internal/app costs 20.1 units, of 10.0", "TestNew +9.0, TestOld +1.0)"}},
		{"what Go's test cache has", nil, nil},
		{"a small package without a line", []line{{step: "test", part: "internal/new", units: 2.9}}, nil},
		{"a package without a line", []line{{step: "test", part: "internal/new", units: 3.1}}, []string{"test internal/new costs 3.1 units, of 0.0"}},
		{"the sum a quarter above", []line{app(10), proof(65.1)}, []string{"the sum is 75.1 units, of 60.0", "prove (other programs) costs 15.1 more"}},
		{"a step that was never measured", []line{{step: "race", part: "internal/app", units: 99}}, nil},
		{"what depends on caches", []line{{step: "lint", part: others, units: 999}, {step: "test", part: compiling, units: 999}}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			err := exceeded(row.now, budgetOf(t, allowed))
			if (err != nil) != (len(row.wants) > 0) {
				t.Fatalf("got %v", err)
			}
			for _, want := range row.wants {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v does not say %q", err, want)
				}
			}
		})
	}
}

func TestBudgetIsWrittenWithItsReasons(t *testing.T) {
	t.Parallel()
	b := budgetOf(t, allowed)
	text := b.with([]line{
		{step: "test", part: "internal/app", units: 10, tests: []timings{{"TestOld", 4}, {"TestSame", 2}}}, {step: "lint", part: others, units: 7}, {step: "prove", part: others, units: 50},
	}, time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), "moves")
	if want := allowed + "# 2026-12-01: moves\n"; text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	if part := b.with([]line{{step: "prove", part: others, units: 40}}, time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), "faster"); !strings.Contains(part, "40.0 prove (other programs)\n10.0 test internal/app\n\t4.0 TestOld\n\t2.0 TestSame\n") {
		t.Errorf("after the proof alone:\n%s", part)
	}
	if again := budgetOf(t, text); again.sum() != 60 || len(again.reasons) != 2 {
		t.Errorf("read again: %+v", again)
	}
}

func TestBadBudgetIsRefused(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "budget.txt")
	if err := os.WriteFile(file, []byte(head+"much test internal/app\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readBudget(file); err == nil || !strings.Contains(err.Error(), "a row is a number and a name") {
		t.Errorf("got %v", err)
	}
}

// What a test process and its children use counts for the package in whose folder it runs.
func TestProcessorTimeBelongsToPackageOfProcess(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Log("this system has no /proc: nothing is measured by package")
		return
	}
	folder := t.TempDir()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(shell)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(folder, "busy.test") // a test process by its name
	if err := os.WriteFile(program, text, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{"test.sh": "sh child.sh; true", "child.sh": "i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", program+" test.sh; true")
	cmd.Dir = folder
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	watch := watchProcesses(cmd.Process.Pid)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	used := watch.end()
	whole := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if got := used[folder]; got.processor < whole/3 || got.memory == 0 {
		t.Errorf("of %s the package has %+v: %+v", whole, got, used)
	}
}
