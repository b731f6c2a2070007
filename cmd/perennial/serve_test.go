package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// installation sets the environment of a service on a SQLite file, which is migrated.
func installation(t *testing.T) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "perennial.db")
	for name, value := range map[string]string{
		"PERENNIAL_DATABASE": file, "PERENNIAL_SECRET_KEY": base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef")),
		"PERENNIAL_APP_SECRET": "secret", "PERENNIAL_LISTEN": "127.0.0.1:0", "PERENNIAL_MEMBERSHIPS_LISTEN": "127.0.0.1:0",
	} {
		t.Setenv(name, value)
	}
	var out, errs bytes.Buffer
	if got := run([]string{"migrate"}, &out, &errs); got != 0 {
		t.Fatalf("migrate ended with %d: %s", got, &errs)
	}
	return file
}

// refuses asserts that a command fails at once, with an error that says why.
func refuses(t *testing.T, code int, why string, command ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	if got := run(command, &out, &errs); got != code || !strings.Contains(errs.String(), why) {
		t.Errorf("%v ended with %d, want %d and %q:\n%s", command, got, code, why, &errs)
	}
}

func TestServeEndsWhenAddressIsInUse(t *testing.T) {
	installation(t)
	taken, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	at := taken.Addr().String()
	refuses(t, 1, "--listen "+at+": listen tcp "+at+": bind: address already in use", "serve", "--listen", at)
	refuses(t, 1, "--memberships-listen "+at+": ", "serve", "--memberships-listen", at)
	refuses(t, 1, "--ops-listen "+at+": ", "serve", "--no-web", "--ops-listen", at)
	refuses(t, 1, "--listen 127.0.0.1:99999: ", "serve", "--listen", "127.0.0.1:99999")
}

func TestServeRefusesUnmigratedDatabase(t *testing.T) {
	installation(t)
	mistyped := filepath.Join(t.TempDir(), "perenial.db")
	refuses(t, 1, "there is no database at "+mistyped+": check the path, or create it with perennial migrate", "serve", "--database", mistyped)
	refuses(t, 1, "there is no database at "+mistyped, "shops", "list", "--database", mistyped)
	if _, err := os.Stat(mistyped); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the mistyped database was created (%v)", err)
	}
	if err := os.WriteFile(mistyped, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refuses(t, 1, "run perennial migrate", "serve", "--database", mistyped)
}

func TestDatabaseFilesAreReadableByOwnerOnly(t *testing.T) {
	file := installation(t)
	files, err := filepath.Glob(file + "*")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f, info.Mode(), err)
		}
	}
}

func TestSettingsFile(t *testing.T) {
	installation(t)
	taken, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	os.Unsetenv("PERENNIAL_LISTEN") // installation restores it
	at := taken.Addr().String()
	for name, row := range map[string]struct {
		text string
		code int
		why  string
	}{
		"a setting of every command": {"listen: " + at, 1, "--listen " + at + ": "},
		"a setting of one command":   {"serve:\n  listen: " + at, 1, "--listen " + at + ": "},
		"the command's own counts":   {"listen: 127.0.0.1:0\nserve:\n  listen: " + at, 1, "--listen " + at + ": "},
		"a mistyped setting":         {"listen: " + at + "\nmail_host: smtp.example.com", 2, "there is no setting mail_host; did you mean mail-host?"},
		"mistyped, of one command":   {"serve:\n  swepe-every: 1s", 2, "there is no setting serve.swepe-every"},
		"of another command":         {"serve:\n  renewals: 5", 2, "there is no setting serve.renewals"},
		"no YAML":                    {"listen: [", 2, "settings file"},
	} {
		file := filepath.Join(t.TempDir(), "settings.yaml")
		if err := os.WriteFile(file, []byte(row.text), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Log(name)
		refuses(t, row.code, row.why, "serve", "--config", file)
	}
}

func TestKeyRotate(t *testing.T) {
	installation(t)
	refuses(t, 1, "PERENNIAL_OTHER_SECRET_KEYS", "key", "rotate")
	old := os.Getenv("PERENNIAL_SECRET_KEY")
	t.Setenv("PERENNIAL_SECRET_KEY", base64.StdEncoding.EncodeToString([]byte("fedcba9876543210fedcba9876543210")))
	t.Setenv("PERENNIAL_OTHER_SECRET_KEYS", "short")
	refuses(t, 1, "each of PERENNIAL_OTHER_SECRET_KEYS must be 32 bytes", "key", "rotate")
	t.Setenv("PERENNIAL_OTHER_SECRET_KEYS", " "+old+" ,")
	var out, errs bytes.Buffer
	if got := run([]string{"key", "rotate"}, &out, &errs); got != 0 || !strings.Contains(out.String(), "all secrets are encrypted with the new key") {
		t.Errorf("ended with %d: %s %s", got, &out, &errs)
	}
}
