package main

import (
	"os"
	"path/filepath"
	"testing"
)

// tree writes files by their paths below a folder.
func tree(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCopyFollowsFolder(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	tree(t, from, map[string]string{
		".golangci.yml": "rules", "a/a.go": "package a", "a/pages/a.html": "<p>", "b/b.go": "package b", "was/file": "1", "bin/tool": "x", ".git/HEAD": "x", "a/bin/b.go": "package bin",
	})
	if err := mirror(from, to); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(filepath.Join(to, "a/pages/a.html"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(from, "b")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(from, "was")); err != nil {
		t.Fatal(err)
	}
	tree(t, from, map[string]string{"a/a.go": "package a // changed", "was": "a file now"})
	if err := mirror(from, to); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{".golangci.yml": "rules", "a/a.go": "package a // changed", "a/bin/b.go": "package bin", "was": "a file now"} {
		if text, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(text) != want {
			t.Errorf("%s is %q, %v; want %q", name, text, err, want)
		}
	}
	for _, name := range []string{"b", "bin", ".git"} {
		if _, err := os.Stat(filepath.Join(to, name)); !os.IsNotExist(err) {
			t.Errorf("%s is in the copy: %v", name, err)
		}
	}
	if after, err := os.Stat(filepath.Join(to, "a/pages/a.html")); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("a file that is alike was written again: %v", err)
	}
}
