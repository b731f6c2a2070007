package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSecretOfCustomerAccountsIsInFile(t *testing.T) {
	t.Parallel()
	file, empty, missing := filepath.Join(t.TempDir(), "secret"), "", filepath.Join(t.TempDir(), "missing")
	if err := os.WriteFile(file, []byte("hush\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		file  *string
		want  string
		is    bool
		fails bool
	}{
		"a file": {file: &file, want: "hush", is: true}, "none: a public client": {file: &empty, is: true}, "not named: as it is": {}, "a missing one": {file: &missing, fails: true},
	} {
		got, err := accountSecret(row.file)
		if (err != nil) != row.fails || (got != nil) != row.is || got != nil && string(*got) != row.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPortalCommandTakesEmptySecretFile(t *testing.T) {
	t.Parallel()
	var c cli
	parser := parserInto(t, &c)
	if _, err := parser.Parse([]string{"shops", "portal", "--shop", "demo.myshopify.com", "--account-client-id", "shp_1", "--account-secret-file", ""}); err != nil {
		t.Fatal(err)
	}
	if got := c.Shops.Portal; got.AccountSecretFile == nil || *got.AccountSecretFile != "" || got.AccountClientID == nil || *got.AccountClientID != "shp_1" {
		t.Errorf("got %+v", got)
	}
}
