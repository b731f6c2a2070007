package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/moving/mover"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

// A file with a column that looks like an amount is not read before the column is mapped or left out. The next
// file with the same columns is not asked about again.
func TestImportOfFileAsksAboutColumnsThatAreNotRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "old.csv")
	const rows = "Contract;Customer;Variant;Price;Interval;Next order;Tax;Colour\nS-1;7;4001;12,50;MONTH;2026-12-24;1,90;red\n"
	if err := os.WriteFile(file, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), store.Options{URL: installation(t), SecretKey: []byte("0123456789abcdef0123456789abcdef"), Relaxed: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := shop.Shop{Domain: "demo.myshopify.com", Token: "token", TimeZone: "UTC", Currency: "EUR", Connected: true, CreatedAt: time.Now()}
	if err := db.Shops().AddShop(t.Context(), &s); err != nil {
		t.Fatal(err)
	}
	const into = " --shop demo.myshopify.com"
	ending := "moves end" + into + " "
	ended := regexp.MustCompile(`move (\d+) has begun`)
	open := "" // number of the move
	for _, row := range []struct {
		name, command string
		code          int
		says          []string
	}{
		{"a column is open", "import" + into + " --csv " + file, 1, []string{
			"is not read, and looks like an amount", "Colour      is not read", `the column "Tax" looks like an amount and is not read`, "--leave-out COLUMN",
		}},
		{"a column that the file lacks", "import" + into + " --leave-out Vat --csv " + file, 1, []string{`no column "Vat"`}},
		{"it is left out", "import" + into + " --leave-out Tax --no-day-first --csv " + file, 0, []string{"is left out, as you chose", "has begun"}},
		{"the move ends", ending, 0, []string{"ENDED"}},
		{"the same columns again", "import" + into + " --csv " + file, 0, []string{"is left out, as you chose", "has begun"}},
		{"the move ends again", ending, 0, []string{"ENDED"}},
		{"it is mapped", "import" + into + " --map discountAmount=Tax --csv " + file, 0, []string{"Tax         discountAmount", "has begun"}},
	} {
		command := row.command
		if command == ending {
			command += open
		}
		var out, errs bytes.Buffer
		got := run(strings.Fields(command), &out, &errs)
		text := out.String() + errs.String()
		for _, says := range row.says {
			if got != row.code || !strings.Contains(text, says) {
				t.Errorf("%s: ended with %d and says %s, want %d and %q", row.name, got, text, row.code, says)
			}
		}
		if found := ended.FindStringSubmatch(text); found != nil {
			open = found[1]
		}
	}
}

func TestShowHasTotalsOfFileBesideThoseThatGo(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	showTotals(&out, []mover.FileTotal{
		{Currency: "EUR", File: moving.Total{Contracts: 5, Unpriced: 1, Amount: 9000}, Goes: moving.Total{Contracts: 3, Amount: 6000}},
		{File: moving.Total{Contracts: 2, Unpriced: 2}},
	})
	const want = "an order of each contract in EUR: the file has 5 contracts of together 90.00 EUR, 3 contracts of together 60.00 EUR go, " +
		"2 contracts of together 30.00 EUR stay, 1 of them with an amount that cannot be read and is not in the sums\n" +
		"without a currency: the file has 2 contracts, 0 go\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", &out, want)
	}
}
