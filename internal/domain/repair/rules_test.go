package repair

import (
	"reflect"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

func TestJudge(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		g    shop.Guard
		word string
		want judgement
	}{
		{"a store that nobody has served", shop.Guard{NextEpoch: "b"}, "", ours},
		{"the word that was written last", shop.Guard{Epoch: "a", NextEpoch: "b"}, "a", ours},
		{"the word whose writing nobody answered", shop.Guard{Epoch: "a", NextEpoch: "b"}, "b", ours},
		{"a later word: our data come from a backup", shop.Guard{Epoch: "a", NextEpoch: "b"}, "c", foreign},
		{"a word of others in a store that is new to us", shop.Guard{NextEpoch: "b"}, "a", foreign},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := judge(row.g, row.word); got != row.want {
				t.Errorf("judged %d, want %d", got, row.want)
			}
		})
	}
}

func TestElsewhere(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		was, is Place
		want    bool
	}{
		{"nobody has said where", Place{}, Place{"db", "host"}, false},
		{"the same place", Place{"db", "host"}, Place{"db", "host"}, false},
		{"another database", Place{"db", "host"}, Place{"copy", "host"}, true},
		{"another host", Place{"db", "host"}, Place{"db", "staging"}, true},
		{"a node that does not know its host", Place{"db", "host"}, Place{"db", ""}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := row.was.DiffersFrom(row.is); got != row.want {
				t.Errorf("elsewhere: %t, want %t", got, row.want)
			}
		})
	}
}

func TestBelieved(t *testing.T) {
	t.Parallel()
	amount := money.Amount{Minor: 2500, Currency: "USD"}
	a := billing.Attempt{ID: 1, Contract: 9001, Cycle: 3, PlatformID: "gid", OrderID: 5, Amount: amount}
	charge := func(order int64, of money.Amount) *platform.Attempt {
		return &platform.Attempt{ID: "gid", State: platform.Succeeded, Order: platform.OrderRef{ID: order}, Amount: of}
	}
	for _, row := range []struct {
		name string
		p    *platform.Attempt
		want Kind
	}{
		{"the platform has the same", charge(5, amount), ""},
		{"the platform has nothing", nil, MissingOrder},
		{"the platform says it failed", &platform.Attempt{ID: "gid", State: platform.Failed}, MissingOrder},
		{"the platform has another order", charge(6, amount), SecondOrder},
		{"the platform has another amount", charge(5, money.Amount{Minor: 2600, Currency: "USD"}), AmountDiffers},
		{"the platform has another currency", charge(5, money.Amount{Minor: 2500, Currency: "EUR"}), AmountDiffers},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if f, differs := believed(a, row.p); f.Kind != row.want || differs != (row.want != "") {
				t.Errorf("found %+v, want %q", f, row.want)
			}
		})
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	long := noon.Add(-time.Hour)
	f := func(object string, change ...func(*Finding)) Finding {
		g := Finding{Kind: UnknownOrder, Contract: 1, Object: object, What: "as it was", FirstSeen: long, LastSeen: long}
		for _, c := range change {
			c(&g)
		}
		return g
	}
	resolved := func(g *Finding) { g.ResolvedAt = long }
	for _, row := range []struct {
		name              string
		standing, seen    []Finding
		put, begun, ended []string
	}{
		{"a new one begins", nil, []Finding{f("a")}, []string{"a"}, []string{"a"}, nil},
		{"one that is seen again stays", []Finding{f("a")}, []Finding{f("a")}, []string{"a"}, nil, nil},
		{"one that was looked for and not seen ends", []Finding{f("a")}, nil, []string{"a"}, nil, []string{"a"}},
		{"one that was not looked for stays as it is", []Finding{f("beyond")}, nil, nil, nil, nil},
		{"one that was resolved and is seen again begins anew", []Finding{f("a", resolved)}, []Finding{f("a")}, []string{"a"}, []string{"a"}, nil},
		{"one that was resolved stays so", []Finding{f("a", resolved)}, nil, nil, nil, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			put, begun, ended := merge(row.standing, row.seen, func(f Finding) bool { return f.Object != "beyond" }, noon)
			for i, pair := range []struct {
				got  []Finding
				want []string
			}{{put, row.put}, {begun, row.begun}, {ended, row.ended}} {
				var got []string
				for _, f := range pair.got {
					got = append(got, f.Object)
				}
				if !reflect.DeepEqual(got, pair.want) {
					t.Errorf("list %d is %v, want %v", i, got, pair.want)
				}
			}
			for _, f := range put {
				if (f.ResolvedAt.IsZero()) != (len(ended) == 0) || f.ResolvedAt.IsZero() && !f.LastSeen.Equal(noon) {
					t.Errorf("written %+v", f)
				}
			}
		})
	}
}

func TestWhatIsBehindIsShown(t *testing.T) {
	t.Parallel()
	old := noon.AddDate(-1, 0, 0)
	for _, row := range []struct {
		name   string
		of     shop.Shop
		behind bool
	}{
		{"reconciled an hour ago", shop.Shop{Connected: true, CreatedAt: old, ReconciledAt: noon.Add(-time.Hour)}, false},
		{"reconciled two days ago", shop.Shop{Connected: true, CreatedAt: old, ReconciledAt: noon.AddDate(0, 0, -2)}, true},
		{"never reconciled to the end", shop.Shop{Connected: true, CreatedAt: old}, true},
		{"connected just now", shop.Shop{Connected: true, CreatedAt: noon.Add(-time.Hour)}, false},
		{"not connected, which says enough", shop.Shop{CreatedAt: old, ReconciledAt: noon.AddDate(0, 0, -2)}, false},
	} {
		if why := behind(row.of, noon); (why != "") != row.behind {
			t.Errorf("%s: behind %q, want %t", row.name, why, row.behind)
		}
	}
}
