package main

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

func TestUsersAreManagedByCommands(t *testing.T) {
	o := storetest.SQLiteOptions(t)
	db := storetest.Open(t, o)
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	const domain = "first.myshopify.com"
	if err := db.Shops().AddShop(t.Context(), &shop.Shop{Domain: domain, TimeZone: "UTC", Currency: "EUR"}); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PERENNIAL_DATABASE", o.URL)
	t.Setenv("PERENNIAL_SECRET_KEY", base64.StdEncoding.EncodeToString(o.SecretKey))
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("correct horse battery\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name, args string
		code       int
		says       string
	}{
		{"no users yet", "list --shop " + domain, 0, "EMAIL"},
		{"the first owner gets a password", "add --shop " + domain + " Ana@staff.example", 0, "This password is not shown again"},
		{"a user is added once", "add --shop " + domain + " ana@staff.example", 1, "has a user with the address ana@staff.example already"},
		{"the password is in a file", "add --shop " + domain + " --role support --password-file " + file + " ben@staff.example", 0, "with the role SUPPORT\n"},
		{"a role is one of five", "add --shop " + domain + " --role king x@staff.example", 1, "is not a role"},
		{"an address is one", "add --shop " + domain + " ana", 1, "is not an e-mail address"},
		{"another store", "add --shop second.myshopify.com x@staff.example", 1, "second.myshopify.com"},
		{"users are listed", "list --shop " + domain, 0, "SUPPORT"},
		{"a role changes", "role --shop " + domain + " ben@staff.example ADMIN", 0, "has the role ADMIN"},
		{"a password is reset", "reset --shop " + domain + " --two-step ben@staff.example", 0, "This password is not shown again"},
		{"a stranger has none", "reset --shop " + domain + " eve@staff.example", 1, "does not belong to the store"},
		{"the last owner stays", "remove --shop " + domain + " ana@staff.example", 1, "the last owner of a store cannot be removed"},
		{"others go", "remove --shop " + domain + " ben@staff.example", 0, "is no longer a user"},
		{"roles are listed", "roles", 0, "MANAGE_OWNERS"},
	} {
		var out, errs bytes.Buffer
		got := run(append([]string{"users"}, strings.Fields(row.args)...), &out, &errs)
		if got != row.code || !strings.Contains(out.String()+errs.String(), row.says) {
			t.Errorf("%s: ended with %d and says %s%s, want %d and %q", row.name, got, &out, &errs, row.code, row.says)
		}
	}
}
