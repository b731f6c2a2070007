package tree

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

// Go takes a test's input for unchanged when its size and its time of change are: both follow from the
// content, in every checkout.
func TestTimesOfCopyFollowFromContent(t *testing.T) {
	t.Parallel()
	at := func(text string, executable bool) os.FileInfo {
		from, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
		tree(t, from, map[string]string{"a/data.txt": text})
		if executable {
			if err := os.Chmod(filepath.Join(from, "a/data.txt"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := mirror(from, to); err != nil {
			t.Fatal(err)
		}
		if folder, err := os.Stat(filepath.Join(to, "a")); err != nil || !folder.ModTime().Equal(folderTime) {
			t.Errorf("the folder has the time %v, %v", folder.ModTime(), err)
		}
		info, err := os.Stat(filepath.Join(to, "a/data.txt"))
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	one, same, other := at("one", false), at("one", true), at("two", false)
	if !one.ModTime().Equal(same.ModTime()) {
		t.Errorf("the same content has the times %s and %s", one.ModTime(), same.ModTime())
	}
	if one.ModTime().Equal(other.ModTime()) {
		t.Error("another content has the same time")
	}
	if one.Mode() != 0o600 || same.Mode() != 0o700 {
		t.Errorf("the modes are %s and %s", one.Mode(), same.Mode())
	}
}
