// Command release builds what a release offers for download: an archive for each system, a
// list of the modules in its binary (CycloneDX) and checksums. It is run in the root of a
// clean checkout and writes to dist. The same commit and the same Go give the same bytes.
package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	program = "cmd/perennial"
	out     = "dist"
)

// license matches the names of files with the terms of a module.
var license = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice)`)

// target is a system that archives are built for.
type target struct{ os, arch string }

var targets = []target{
	{"linux", "amd64"}, {"linux", "arm64"},
	{"darwin", "amd64"}, {"darwin", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"},
}

// documents are in every archive.
var documents = []string{"LICENSE", "NOTICE", "README.md", "CHANGELOG.md"}

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	changed, err := target{}.command(ctx, "git", "status", "--porcelain")
	if err != nil {
		return err
	}
	if len(changed) > 0 {
		return fmt.Errorf("commit or remove these first, a release is what a commit holds:\n%s", changed)
	}
	at, err := commitTime(ctx)
	if err != nil {
		return err
	}
	tools, err := os.MkdirTemp("", "perennial-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tools) //nolint:errcheck // a folder for temporary files
	lister := filepath.Join(tools, "cyclonedx-gomod")
	if _, err := (target{}).command(ctx, "go", "build", "-modfile=tools/go.mod", "-o", lister, "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod"); err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.Mkdir(out, 0o755); err != nil {
		return err
	}
	for _, t := range targets {
		if err := t.release(ctx, at, lister); err != nil {
			return fmt.Errorf("%s/%s: %w", t.os, t.arch, err)
		}
	}
	return writeChecksums()
}

// commitTime is the modification time of every file in an archive.
func commitTime(ctx context.Context) (time.Time, error) {
	text, err := target{}.command(ctx, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return time.Time{}, err
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return time.Unix(seconds, 0).UTC(), err
}

// release writes the archive and, with the program lister, the list of modules for t.
func (t target) release(ctx context.Context, at time.Time, lister string) error {
	dir, err := os.MkdirTemp("", "perennial-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder for temporary files
	binary := filepath.Join(dir, "perennial")
	if _, err := t.command(ctx, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s", "-o", binary, "./"+program); err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	files, err := t.files(ctx, binary)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("perennial_%s_%s_%s", strings.TrimPrefix(info.Main.Version, "v"), t.os, t.arch)
	pack, extension := writeTarGz, ".tar.gz"
	if t.os == "windows" {
		pack, extension = writeZip, ".zip"
	}
	var packed bytes.Buffer
	if err := pack(&packed, name, files, at); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, name+extension), packed.Bytes(), 0o644); err != nil {
		return err
	}
	_, err = t.command(ctx, lister, "app", "-json", "-licenses", "-std", "-noserial", "-notimestamp",
		"-main", program, "-output", filepath.Join(out, name+".cdx.json"), ".")
	return err
}

// files returns what the archive for t holds, sorted by name.
func (t target) files(ctx context.Context, binary string) ([]file, error) {
	sources := map[string]string{"perennial" + t.exe(): binary}
	for _, d := range documents {
		sources[d] = d
	}
	if t.os == "linux" {
		units, err := filepath.Glob("deploy/*/*")
		if err != nil {
			return nil, err
		}
		for _, u := range units {
			sources[filepath.ToSlash(u)] = u
		}
	}
	if err := t.licenses(ctx, sources); err != nil {
		return nil, err
	}
	var files []file
	for name, source := range sources {
		body, err := os.ReadFile(source)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: name, body: body, executable: source == binary})
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	return files, nil
}

// licenses adds the licenses of the modules in the binary, which must go with copies of it,
// and that of Go.
func (t target) licenses(ctx context.Context, sources map[string]string) error {
	list, err := t.command(ctx, "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}", "./"+program)
	if err != nil {
		return err
	}
	root, err := t.command(ctx, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(list) + "go\t" + string(root)) {
		module, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if module == "" {
			continue
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		found := 0
		for _, e := range entries {
			if !e.IsDir() && license.MatchString(e.Name()) && filepath.Ext(e.Name()) != ".go" {
				sources["licenses/"+module+"/"+e.Name()] = filepath.Join(dir, e.Name())
				found++
			}
		}
		if found == 0 {
			return fmt.Errorf("module %s has no license file in %s", module, dir)
		}
	}
	return nil
}

func (t target) exe() string {
	if t.os == "windows" {
		return ".exe"
	}
	return ""
}

// command runs a program, for t where it is not empty, and returns what it prints.
func (t target) command(ctx context.Context, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if t.os != "" {
		cmd.Env = append(cmd.Env, "GOOS="+t.os, "GOARCH="+t.arch)
	}
	text, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, failed.Stderr)
	}
	return text, err
}

// writeChecksums writes SHA256SUMS, which `sha256sum --check` reads.
func writeChecksums() error {
	names, err := filepath.Glob(filepath.Join(out, "*"))
	if err != nil {
		return err
	}
	var list bytes.Buffer
	for _, name := range names {
		sum, err := checksum(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&list, "%x  %s\n", sum, filepath.Base(name))
	}
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), list.Bytes(), 0o644)
}

func checksum(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return sum.Sum(nil), err
}
