package platformtest

import (
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/platform"
)

// cycleEditing are the promises of platform.Editor about single cycles.
var cycleEditing = []promise{
	{"an edit of one cycle changes its order and no other", func(t *testing.T, w World) {
		k := due(w, Contract{Note: "ring twice"})
		second := platform.CycleRef{Contract: k, Index: 2}
		if o := cycleOrder(t, w, second); o.Edited || o.CycleRef != second || o.Note != "ring twice" || len(o.Lines) != 1 {
			t.Errorf("before the edit: %+v", o)
		}
		o := editCycle(t, w, second, platform.Edit{
			Note: new("and once more"), DeliveryPrice: usd(300),
			Lines: []platform.LineEdit{{Variant: new(w.Variants()[1]), Quantity: new(2), Price: usd(500)}},
		})
		if !o.Edited || o.CycleRef != second || o.Note != "and once more" || len(o.Lines) != 2 || len(o.LineDetails) != 2 || o.DeliveryPrice != *usd(300) {
			t.Errorf("edited: %+v", o)
		}
		if again := cycleOrder(t, w, second); !again.Edited || again.Note != o.Note || !slices.Equal(again.Lines, o.Lines) {
			t.Errorf("read again: %+v, want %+v", again, o)
		}
		if d := detail(t, w, k); len(d.Lines) != 1 || d.Note != "ring twice" {
			t.Errorf("the contract changed: %+v", d.Contract)
		}
		wantNextOrder(t, w, first(k), 1250, "ring twice")
		untilCycle(t, w, second)
		wantNextOrder(t, w, second, 1250+2*500+300, "and once more")
		if got := w.LastOrder(k).Lines; len(got) != 2 || got[1] != (OrderLine{w.Variants()[1], 2, *usd(500)}) {
			t.Errorf("lines %+v", got)
		}
		third := platform.CycleRef{Contract: k, Index: 3}
		untilCycle(t, w, third)
		wantNextOrder(t, w, third, 1250, "ring twice")
	}},
	{"a second edit of a cycle starts from the first", func(t *testing.T, w World) {
		k := due(w, Contract{})
		o := editCycle(t, w, first(k), platform.Edit{Lines: []platform.LineEdit{{Variant: new(w.Variants()[1]), Quantity: new(1), Price: usd(500)}}})
		o = editCycle(t, w, first(k), platform.Edit{Lines: []platform.LineEdit{{Line: o.Lines[1].ID, Quantity: new(4)}}})
		if len(o.Lines) != 2 || o.Lines[1].Quantity != 4 {
			t.Errorf("lines %+v", o.Lines)
		}
		wantNextOrder(t, w, first(k), 1250+4*500, "")
	}},
	{"an edit of what a cycle ordered when it was read is refused when it orders something else", func(t *testing.T, w World) {
		k := due(w, Contract{})
		was := cycleOrder(t, w, first(k)).Lines
		add := platform.Edit{Was: was, Lines: []platform.LineEdit{{Variant: new(w.Variants()[1]), Quantity: new(1), Price: usd(500)}}}
		editCycle(t, w, first(k), add)
		_, err := w.Platform().EditCycle(t.Context(), w.Shop(), first(k), add)
		wantRefusal(t, err, platform.CodeStale)
		if o := cycleOrder(t, w, first(k)); len(o.Lines) != 2 {
			t.Errorf("lines %+v, want the one that was added once", o.Lines)
		}
		if err := w.Platform().DropCycleEdit(t.Context(), w.Shop(), first(k)); err != nil {
			t.Fatal(err)
		}
		if o := editCycle(t, w, first(k), add); len(o.Lines) != 2 {
			t.Errorf("lines %+v, want an edit of what was read", o.Lines)
		}
	}},
	{"a cycle's policies cannot be edited", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(time.Hour)})
		month := &platform.Policy{Interval: "MONTH", Count: 2}
		_, err := w.Platform().EditCycle(t.Context(), w.Shop(), first(k), platform.Edit{Billing: month, Delivery: month})
		wantRefusal(t, err, "BILLING_CYCLE_CONTRACT_DRAFT_BILLING_POLICY_INVALID")
		_, err = w.Platform().EditCycle(t.Context(), w.Shop(), first(k), platform.Edit{Delivery: month})
		wantRefusal(t, err, "BILLING_CYCLE_CONTRACT_DRAFT_DELIVERY_POLICY_INVALID")
		if cycle(t, w, first(k)).Edited {
			t.Error("the cycle was edited")
		}
	}},
	{"the last line of a cycle cannot be removed", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(time.Hour)})
		line := detail(t, w, k).Lines[0].ID
		_, err := w.Platform().EditCycle(t.Context(), w.Shop(), first(k), platform.Edit{Lines: []platform.LineEdit{{Line: line, Remove: true}}})
		wantRefusal(t, err, "INVALID_LINES")
	}},
	{"a cycle that was billed cannot be edited", func(t *testing.T, w World) {
		k := due(w, Contract{})
		wantNextOrder(t, w, first(k), 1250, "")
		_, err := w.Platform().EditCycle(t.Context(), w.Shop(), first(k), platform.Edit{Note: new("late")})
		wantRefusal(t, err, "INVALID")
	}},
	{"a contract with an edited cycle ahead is not edited until that is taken back", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(time.Hour)})
		editCycle(t, w, platform.CycleRef{Contract: k, Index: 3}, platform.Edit{Note: new("for one")})
		_, err := w.Platform().EditContract(t.Context(), w.Shop(), k, platform.Edit{Note: new("for all")})
		wantRefusal(t, err, platform.CodeFutureEdits)
		if d := setStatus(t, w, k, "PAUSED"); d.Status != "PAUSED" {
			t.Errorf("status %s", d.Status)
		}
		for range 2 {
			if err := w.Platform().DropCycleEdit(t.Context(), w.Shop(), platform.CycleRef{Contract: k, Index: 3}); err != nil {
				t.Fatal(err)
			}
		}
		if o := cycleOrder(t, w, platform.CycleRef{Contract: k, Index: 3}); o.Edited || o.Note != "" {
			t.Errorf("after it was taken back: %+v", o)
		}
		if got := edit(t, w, k, platform.Edit{Note: new("for all")}); got.Note != "for all" {
			t.Errorf("note %q", got.Note)
		}
	}},
	{"the edit of a cycle whose date has passed is a copy of the contract as it was, until it is taken back", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(time.Hour)})
		before := detail(t, w, k).Revision
		if o := cycleOrder(t, w, first(k)); o.Revision != before {
			t.Errorf("the order is of revision %d, the contract of %d", o.Revision, before)
		}
		editCycle(t, w, first(k), platform.Edit{Note: new("for one")})
		if o := cycleOrder(t, w, first(k)); o.Revision != before {
			t.Errorf("after the edit the order is of revision %d, the contract was of %d", o.Revision, before)
		}
		w.Pass(2 * time.Hour)
		now := edit(t, w, k, platform.Edit{Lines: []platform.LineEdit{{Variant: new(w.Variants()[1]), Quantity: new(1), Price: usd(500)}}})
		if o := cycleOrder(t, w, first(k)); !o.Edited || len(o.Lines) != 1 || o.Revision != now.Revision {
			t.Errorf("after the contract was changed to revision %d: %+v", now.Revision, o)
		}
		if err := w.Platform().DropCycleEdit(t.Context(), w.Shop(), first(k)); err != nil {
			t.Fatal(err)
		}
		wantNextOrder(t, w, first(k), 1250+500, "")
	}},
	{"taking back an edit leaves a cycle skipped or moved that was", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(24 * time.Hour)})
		moved, skip := first(k), platform.CycleRef{Contract: k, Index: 2}
		to := w.Now().Add(6 * time.Hour)
		if err := w.Platform().MoveCycle(t.Context(), w.Shop(), k, 1, to); err != nil {
			t.Fatal(err)
		}
		if err := w.Platform().SkipCycle(t.Context(), w.Shop(), k, 2); err != nil {
			t.Fatal(err)
		}
		for _, ref := range []platform.CycleRef{moved, skip} {
			editCycle(t, w, ref, platform.Edit{Note: new("for one")})
			if err := w.Platform().DropCycleEdit(t.Context(), w.Shop(), ref); err != nil {
				t.Fatal(err)
			}
			if o := cycleOrder(t, w, ref); o.Edited {
				t.Errorf("cycle %d is still edited", ref.Index)
			}
		}
		if c := cycle(t, w, moved); !c.Expected.Equal(to) || c.Skipped {
			t.Errorf("cycle %+v, want it expected at %v", c, to)
		}
		if c := cycle(t, w, skip); !c.Skipped {
			t.Errorf("cycle %+v, want it skipped", c)
		}
	}},
	{"taking back an edit leaves a date behind that the cycle cannot have any more", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(24 * time.Hour)})
		third := platform.CycleRef{Contract: k, Index: 3}
		if err := w.Platform().MoveCycle(t.Context(), w.Shop(), k, 3, cycle(t, w, third).Expected.AddDate(0, 0, -3)); err != nil {
			t.Fatal(err)
		}
		edit(t, w, k, platform.Edit{Billing: &platform.Policy{Interval: "WEEK", Count: 1}, Delivery: &platform.Policy{Interval: "WEEK", Count: 1}})
		editCycle(t, w, third, platform.Edit{Note: new("for one")})
		if err := w.Platform().DropCycleEdit(t.Context(), w.Shop(), third); err != nil {
			t.Fatal(err)
		}
		if o := cycleOrder(t, w, third); o.Edited {
			t.Error("it is still edited")
		}
	}},
	{"taking back an edit that was not made changes nothing", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(24 * time.Hour)})
		if err := w.Platform().SkipCycle(t.Context(), w.Shop(), k, 1); err != nil {
			t.Fatal(err)
		}
		if err := w.Platform().DropCycleEdit(t.Context(), w.Shop(), first(k)); err != nil {
			t.Fatal(err)
		}
		if c := cycle(t, w, first(k)); !c.Skipped {
			t.Errorf("cycle %+v, want it skipped", c)
		}
	}},
}
