package sandbox

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/moving"
	moves "github.com/perennialhq/perennial/internal/domain/moving/mover"
	"github.com/perennialhq/perennial/internal/domain/moving/table"
	"github.com/perennialhq/perennial/internal/domain/notify"
)

func number(n int64) string { return strconv.FormatInt(n, 10) }

func rowsOf[R any](list ...R) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		for _, r := range list {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// Members and customers of files are judged when they are added, and made like those of a service.
func TestMembersAndCustomersOfFilesAreMade(t *testing.T) {
	t.Parallel()
	b := startInline(t, Options{Second: true, MainOnly: true, Contracts: 6})
	for _, instance := range []string{"", "?instance=second"} {
		b.direct("POST", "/settings"+instance, `{"requestsPerSecond":1000,"requestBurst":10000}`, nil)
	}
	id, m := b.startMove(""), b.Manifest()
	one, two := m.Customers[0].ID, m.Customers[1].ID
	a, of := b.second.front.running(), b.secondStore()
	// while the second service has no contracts, it knows no e-mail address
	members := rowsOf(
		table.PointsRow{Customer: table.Person{ID: one, Email: "one@example.com"}, Balance: 12*loyalty.One + 50},
		table.PointsRow{Customer: table.Person{ID: two}, Findings: []moving.Finding{{Fit: moving.Stays, Code: "valueMissing", Text: "the balance is missing"}}},
		table.PointsRow{Customer: table.Person{ID: 999_999_999}, Balance: loyalty.One},
		table.PointsRow{Customer: table.Person{Email: "Unknown@example.com"}, Balance: loyalty.One},
		table.PointsRow{Line: 6},
	)
	if n, err := a.Moves.Parts.AddMembers(t.Context(), of, id, members); n != 5 || err != nil {
		t.Fatalf("%d members of the file were added, %v", n, err)
	}
	customers := rowsOf(
		table.CustomerRow{Customer: table.Person{ID: one}, FirstName: "Ana", Language: "de", EmailConsent: table.Refused, Birthday: cadence.Date{Year: 1990, Month: 2, Day: 28}},
		table.CustomerRow{Customer: table.Person{ID: two}, EmailConsent: table.Agreed, Phone: "+49 30 901820"},
	)
	if n, err := a.Moves.Parts.AddCustomers(t.Context(), of, id, customers); n != 2 || err != nil {
		t.Fatalf("%d customers of the file were added, %v", n, err)
	}
	type judged struct {
		stage moving.PartStage
		code  string
	}
	want := map[string]judged{
		"MEMBER " + number(one): {moving.PartReady, ""}, "MEMBER " + number(two): {moving.PartStaying, "valueMissing"},
		"MEMBER 999999999": {moving.PartStaying, "customerUnknown"}, "MEMBER unknown@example.com": {moving.PartStaying, "customerMissing"},
		"MEMBER line 6":           {moving.PartStaying, "customerMissing"},
		"CUSTOMER " + number(one): {moving.PartReady, "birthdayLeftOut"}, "CUSTOMER " + number(two): {moving.PartReady, "smsConsent"},
	}
	for _, p := range b.parts(id) {
		name := string(p.Kind) + " " + p.There
		if w, is := want[name]; is && (p.Stage != w.stage || w.code != "" && !p.Has(w.code)) {
			t.Errorf("%s is %s: %+v", name, p.Stage, p.Findings)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("the move does not have %v", want)
	}
	for range 2 {
		b.makeParts(id)
		if got := b.balance(m.Second.Loyalty, m.Second.APIKey, one); got != 12.5 {
			t.Errorf("the member of the file has %v points", got)
		}
		member, err := a.Loyalty.Member(t.Context(), b.secondShop(), loyalty.CustomerRef{Customer: one}, "")
		if err != nil || member.Born != "1990-02-28" {
			t.Errorf("the member is %+v, %v", member, err)
		}
		language, err := a.Portal.Language(t.Context(), of, one)
		off, err2 := b.mailsOff(one)
		if language != "de" || err != nil || err2 != nil || !slices.Contains(off, notify.StoreNews) || slices.Contains(off, notify.UpcomingOrder) {
			t.Errorf("the customer reads %q and refuses %v: %v, %v", language, off, err, err2)
		}
		if off, err := b.mailsOff(two); len(off) > 0 || err != nil {
			t.Errorf("the customer who agreed refuses %v, %v", off, err)
		}
	}
	b.noMail()
}

// A file of points is uploaded, read and made like one of contracts.
func TestPointsComeFromFile(t *testing.T) {
	t.Parallel()
	b := startInline(t, Options{Second: true, MainOnly: true, Contracts: 6})
	m, mover, of := b.Manifest(), b.second.front.running().Moves, b.secondStore()
	one := m.Customers[0].ID
	file := fmt.Sprintf("Member;Mail;Points\n%d;;1.250,50\n;;7\n;broken;8\n", one)
	moved, err := mover.Upload(t.Context(), of, moves.NewFile{Name: "points.csv", Kind: table.PointRows, Body: strings.NewReader(file), By: activity.Operator})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mover.SetMapping(t.Context(), of, moved.ID, activity.Operator, moving.Choices{Fields: map[string]string{"id": "Member"}}); !fault.Is(err, fault.Invalid) {
		t.Errorf("a mapping of contracts for points: %v", err)
	}
	comma := true
	choices := moving.Choices{Fields: map[string]string{"customerId": "Member", "email": "Mail", "balance": "Points"}, DecimalComma: &comma}
	if _, err := mover.SetMapping(t.Context(), of, moved.ID, activity.Operator, choices); err != nil {
		t.Fatal(err)
	}
	b.advance("PT5M")
	stages := map[moving.PartStage]int{}
	for _, p := range b.parts(moved.ID) {
		stages[p.Stage]++
	}
	if stages[moving.PartReady] != 1 || stages[moving.PartStaying] != 2 {
		t.Fatalf("the file gives parts %v: %+v", stages, b.parts(moved.ID))
	}
	b.makeParts(moved.ID)
	if got := b.balance(m.Second.Loyalty, m.Second.APIKey, one); got != 1250.5 {
		t.Errorf("the member of the file has %v points", got)
	}
	b.noMail()
}
