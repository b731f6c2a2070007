package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

var (
	packed = []file{{name: "LICENSE", body: []byte("Apache")}, {name: "perennial", body: []byte("\x7fELF"), executable: true}}
	listed = []string{"p_1/LICENSE -rw-r--r-- Apache", "p_1/perennial -rwxr-xr-x \x7fELF"}
	at     = time.Date(2026, 11, 25, 1, 45, 1, 0, time.UTC)
)

// A day later the archive of the same files has the same bytes, and they can be read back.
func TestArchivesAreReproducible(t *testing.T) {
	t.Parallel()
	for name, format := range map[string]struct {
		write func(io.Writer, string, []file, time.Time) error
		list  func(*testing.T, []byte) []string
	}{"tar.gz": {writeTarGz, listTarGz}, "zip": {writeZip, listZip}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var first, second bytes.Buffer
				if err := format.write(&first, "p_1", packed, at); err != nil {
					t.Fatal(err)
				}
				time.Sleep(24 * time.Hour)
				if err := format.write(&second, "p_1", packed, at); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(first.Bytes(), second.Bytes()) {
					t.Error("the second archive differs from the first")
				}
				if got := format.list(t, first.Bytes()); !slices.Equal(got, listed) {
					t.Errorf("the archive holds %q, want %q", got, listed)
				}
			})
		})
	}
}

func listTarGz(t *testing.T, archive []byte) []string {
	t.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, line(t, h.Name, h.FileInfo(), r))
	}
}

func listZip(t *testing.T, archive []byte) []string {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, f := range r.File {
		body, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, line(t, f.Name, f.FileInfo(), body))
	}
	return list
}

func line(t *testing.T, name string, info fs.FileInfo, r io.Reader) string {
	t.Helper()
	if !info.ModTime().Equal(at) {
		t.Errorf("%s is of %s, want %s", name, info.ModTime(), at)
	}
	body, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return name + " " + info.Mode().String() + " " + string(body)
}
