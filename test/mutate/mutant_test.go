package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// A mutant whose patch no longer applies takes no guard out. The code that it changes is in the patch.
func TestEveryPatchApplies(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "mutants", "*.patch"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d mutants, %v", len(files), err)
	}
	for _, file := range files {
		if _, err := read(file); err != nil {
			t.Error(err)
		}
		apply := exec.CommandContext(t.Context(), "git", "apply", "--check", file)
		apply.Dir = root
		if out, err := apply.CombinedOutput(); err != nil {
			t.Errorf("%s does not apply: %s", filepath.Base(file), out)
		}
	}
}
