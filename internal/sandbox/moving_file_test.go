package sandbox

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/moving"
	moves "github.com/perennialhq/perennial/internal/domain/moving/mover"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// fileColumns are those of the file that a merchant brings along, in words of their own.
var fileColumns = []string{
	"Subscription ID", "Customer", "Email", "Status", "Next charge date", "Billing interval", "Billing count", "Delivery interval", "Delivery count", "Orders so far", "Variant", "SKU", "Product", "Quantity", "Price", "Delivery price", "Currency",
	"Address1", "City", "Zip", "Province", "Country",
}

// linesOf returns the rows of a contract, one for each line. Every second customer is named by the
// e-mail address.
func linesOf(n int, c moving.Contract) [][]string {
	var rows [][]string
	for _, l := range c.Lines {
		customer := fmt.Sprint(c.Customer.ID)
		if n%2 == 1 {
			customer = ""
		}
		decimal := func(text string) string { return strings.ReplaceAll(text, ".", ",") }
		rows = append(rows, []string{
			fmt.Sprintf("S-%d", c.ID), customer, c.Customer.Email, strings.ToLower(string(c.Status)), c.Next.Format(time.RFC3339), fmt.Sprint(c.Billing.Interval), fmt.Sprint(c.Billing.Count),
			fmt.Sprint(c.Delivery.Interval), fmt.Sprint(c.Delivery.Count), fmt.Sprint(c.Orders), fmt.Sprint(l.Variant), "", l.Title, fmt.Sprint(l.Quantity), decimal(l.Price.String()), decimal(c.DeliveryPrice.String()), string(c.Currency),
			c.Method.Address.Address1, c.Method.Address.City, c.Method.Address.Zip, c.Method.Address.ProvinceCode, c.Method.Address.CountryCode,
		})
	}
	return rows
}

// rowAmount returns what an order of a contract with that row costs, in cents.
func rowAmount(t *testing.T, row []string) int64 {
	t.Helper()
	price, err := money.Parse(strings.ReplaceAll(row[14], ",", "."), "USD")
	delivery, err2 := money.Parse(strings.ReplaceAll(row[15], ",", "."), "USD")
	pieces, err3 := strconv.ParseInt(row[13], 10, 64)
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	return price.Times(pieces).Plus(delivery).Minor
}

// simple reports whether a file can say all about a contract.
func simple(c moving.Contract) bool {
	return c.Status == "ACTIVE" && c.Line == shop.Subscriptions && len(c.Discounts) == 0 && c.Currency == "USD" && c.Lines[0].Pricing == nil && len(c.Edits(cadence.Calendar{Hour: 9})) == 0 && !owed(c)
}

func owed(c moving.Contract) bool { _, is := c.UnderWay(); return is }

// A merchant whose service has no interface brings a file. What cannot be taken from it is listed
// before anything is changed, and each customer is charged the same amounts on the same days as before.
func TestStoreMovesInFromFile(t *testing.T) {
	t.Parallel()
	stays := startInline(t, Options{MainOnly: true, Contracts: 16})
	b := startInline(t, Options{Second: true, MainOnly: true, Contracts: 16})
	b.direct("POST", "/settings", `{"requestsPerSecond":1000,"requestBurst":10000}`, nil)
	stays.withoutSwaps()
	b.withoutSwaps()
	mover, store := b.second.front.running().Moves, b.secondStore()

	// What the service that is left has is read from it.
	source := b.moveIn()
	b.advance("PT5M")
	items, err := mover.Items(t.Context(), store, source, moving.Match{}, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mover.End(t.Context(), store, source, activity.Operator); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	rows := csv.NewWriter(&file)
	rows.Comma = ';'
	_ = rows.Write(fileColumns)
	var leaving []int64
	var last []string
	var amount int64 // of orders of all that leave
	for n, i := range items {
		if i.Fit == moving.Stays || !simple(i.Contract) {
			continue
		}
		leaving = append(leaving, i.There)
		amount += i.Plan.Amount.Minor
		for _, row := range linesOf(n, i.Contract) {
			_ = rows.Write(row)
			last = row
		}
	}
	lastAmount := rowAmount(t, last)
	bad := func(change func(row []string)) {
		row := slices.Clone(last)
		change(row)
		_ = rows.Write(row)
	}
	bad(func(row []string) { row[0] = "S-6" })                                       // a contract with rows in two places
	bad(func(row []string) { row[0], row[10] = "S-1", "999999" })                    // a variant that is gone
	bad(func(row []string) { row[0], row[1], row[2] = "S-2", "", "no@one.example" }) // a customer that is none
	bad(func(row []string) { row[0], row[4] = "S-3", "2025-01-01" })                 // a date long past
	bad(func(row []string) { row[0], row[14] = "S-4", "=1+1" })                      // a formula
	bad(func(row []string) { row[0], row[17], row[21] = "S-5", "", "" })             // no address
	bad(func(row []string) { row[0] = "S-6" })
	rows.Flush()
	if len(leaving) < 10 {
		t.Fatalf("only %d contracts can be in a file", len(leaving))
	}

	upload := func() moving.Move {
		t.Helper()
		m, err := mover.Upload(t.Context(), store, moves.NewFile{Name: "all.csv", Body: bytes.NewReader(file.Bytes()), By: activity.Operator})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := upload()
	if m.Status != moving.Mapping || m.File.Fields["nextOrderDate"] != "Next charge date" || m.File.Fields["id"] != "Subscription ID" {
		t.Fatalf("after the upload: %s, %v", m.Status, m.File.Fields)
	}
	fields := m.File.Fields
	fields["sku"] = ""
	if _, err := mover.SetMapping(t.Context(), store, m.ID, activity.Operator, moving.Choices{Fields: fields}); err != nil {
		t.Fatal(err)
	}
	b.advance("PT1M")
	p := b.progress(m.ID)
	if goes := p.ByFit[moving.Goes] + p.ByFit[moving.Changes]; p.Move.Status != moving.Ready || goes != len(leaving) || p.ByFit[moving.Stays] != 7 {
		b.describeMove(m.ID)
		t.Fatalf("the move is %s (%s): %v, want %d that go and 7 that stay", p.Move.Status, p.Move.Failure, p.ByFit, len(leaving))
	}
	priced := 6 // of those that stay, at the price of the last one; the formula has none
	if len(p.Totals) != 1 {
		t.Fatalf("the file has the totals %+v", p.Totals)
	}
	if sum := p.Totals[0]; sum.File.Contracts != len(leaving)+7 || sum.File.Unpriced != 1 || sum.Goes.Contracts != len(leaving) || sum.Goes.Amount != amount ||
		sum.Stays().Contracts != 7 || sum.Stays().Amount != int64(priced)*lastAmount {
		t.Errorf("the totals are %+v, want %d for those that go and %d for each of %d that stay", sum, amount, lastAmount, priced)
	}
	var codes []string
	staying, err := mover.Items(t.Context(), store, m.ID, moving.Match{Fit: moving.Stays}, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range staying {
		codes = append(codes, i.Findings[0].Code)
	}
	slices.Sort(codes)
	if want := []string{"contractTwice", "contractTwice", "customerUnknown", "datePast", "deliveryMissing", "valueIsFormula", "variantGone"}; !slices.Equal(codes, want) {
		t.Errorf("what stays has the findings %v, want %v", codes, want)
	}

	// The service that is left charges them no more.
	for _, id := range leaving {
		if status, text := ask(t, "DELETE", fmt.Sprintf("%s/api/external/v2/subscription-contracts/%d", b.Manifest().Subscriptions, id), b.Manifest().APIKey, ""); status/100 != 2 {
			t.Fatalf("cancelling contract %d answered %d %s", id, status, text)
		}
	}
	b.wave(m.ID, 10)
	b.advance("PT2M")
	b.wave(m.ID, 100)
	b.advance("PT2M")
	if p := b.progress(m.ID); p.Moved != len(leaving) {
		b.describeMove(m.ID)
		t.Fatalf("%d contracts were moved, want %d", p.Moved, len(leaving))
	}
	if _, err := mover.End(t.Context(), store, m.ID, activity.Operator); err != nil {
		t.Fatal(err)
	}

	// The same file again: all are here, and the mapping is the one that was chosen.
	again := upload()
	if again.File.Fields["sku"] != "" || len(again.File.Fields) != len(fields) {
		t.Errorf("the mapping of the same columns is %v, want %v", again.File.Fields, fields)
	}
	if _, err := mover.SetMapping(t.Context(), store, again.ID, activity.Operator, again.File.Choices); err != nil {
		t.Fatal(err)
	}
	b.advance("PT1M")
	if p := b.progress(again.ID); p.ByFit[moving.Stays] != len(leaving)+7 {
		t.Errorf("uploaded again: %v", p.ByFit)
	}
	b.advance("P35D")
	stays.advance("P35DT11M")
	b.sameCharges(stays)
}
