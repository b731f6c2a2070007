package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

func testMoveParts(t *testing.T, open opener) {
	w := begin(t, open)
	const of = moving.ID(7)
	later := day.Add(time.Hour)
	key := func(kind moving.PartKind, line shop.Line, there string) moving.PartKey {
		return moving.PartKey{Kind: kind, Line: line, There: there}
	}
	group := moving.Part{
		Move: of, PartKey: key(moving.GroupPart, shop.Subscriptions, "17"), Name: "Save", Here: 4, Stage: moving.PartMade, Fit: moving.Changes, Reason: "why",
		Findings: []moving.Finding{{Fit: moving.Changes, Code: "c", Field: "f", Text: "t"}}, Plans: moving.PlanMap{1: 2}, SeenAt: day, BegunAt: day.Add(1e6), MadeAt: day.Add(2e6),
		Data: moving.PartData{Group: &moving.Group{Terms: plan.Terms{Name: "Save"}, Options: []plan.Option{{ID: 1, Name: "Monthly"}}, Products: []int64{3}}},
	}
	listed := moving.Part{Move: of, PartKey: key(moving.MemberPart, "", "9"), Customer: 9, Stage: moving.PartFound, Unread: true, SeenAt: day}
	filed := moving.Part{Move: of, PartKey: key(moving.MemberPart, "", "ana@example.com"), Stage: moving.PartReady, Fit: moving.Goes, Filed: true, SeenAt: day}
	again := moving.Part{Move: of, PartKey: group.PartKey, Stage: moving.PartFound, Unread: true, SeenAt: later}
	w.in(func(tx *store.Tx) error {
		if err := tx.PutMoveParts(t.Context(), []moving.Part{group}); err != nil {
			return err
		}
		return tx.ListMoveParts(t.Context(), []moving.Part{listed, filed})
	})
	all := func(tx *store.Tx, match moving.PartMatch, after moving.PartKey, limit int) (found []string) {
		list, err := tx.MoveParts(t.Context(), of, match, after, limit)
		if err != nil {
			t.Error(err)
		}
		for _, p := range list {
			found = append(found, p.There)
		}
		return found
	}
	w.in(func(tx *store.Tx) error {
		got, err := tx.MoveParts(t.Context(), of, moving.PartMatch{Kind: moving.GroupPart}, moving.PartKey{}, 9)
		if diff := cmp.Diff([]moving.Part{group}, got); diff != "" || err != nil {
			t.Errorf("%v, %s", err, diff)
		}
		for what, is := range map[string]struct{ got, want []string }{
			"all":             {all(tx, moving.PartMatch{}, moving.PartKey{}, 9), []string{"9", "ana@example.com", "17"}},
			"after one":       {all(tx, moving.PartMatch{}, listed.PartKey, 9), []string{"ana@example.com", "17"}},
			"after a kind":    {all(tx, moving.PartMatch{}, filed.PartKey, 9), []string{"17"}},
			"one":             {all(tx, moving.PartMatch{}, moving.PartKey{}, 1), []string{"9"}},
			"to be read":      {all(tx, moving.PartMatch{Unread: true}, moving.PartKey{}, 9), []string{"9"}},
			"of a stage":      {all(tx, moving.PartMatch{Stages: []moving.PartStage{moving.PartReady}}, moving.PartKey{}, 9), []string{"ana@example.com"}},
			"by number":       {all(tx, moving.PartMatch{There: []string{"17", "8"}}, moving.PartKey{}, 9), []string{"17"}},
			"of another kind": {all(tx, moving.PartMatch{Kind: moving.BundlePart}, moving.PartKey{}, 9), nil},
		} {
			if !slices.Equal(is.got, is.want) {
				t.Errorf("%s: %v, want %v", what, is.got, is.want)
			}
		}
		return tx.ListMoveParts(t.Context(), []moving.Part{again})
	})
	group.Unread, group.SeenAt = true, later
	listed.Data.Member = &moving.Member{Customer: 9, Email: "ana@example.com", Available: 5 * loyalty.One}
	w.in(func(tx *store.Tx) error {
		got, err := tx.MoveParts(t.Context(), of, moving.PartMatch{Kind: moving.GroupPart}, moving.PartKey{}, 9)
		if diff := cmp.Diff([]moving.Part{group}, got); diff != "" || err != nil {
			t.Errorf("listed again: %v, %s", err, diff)
		}
		counts, err := tx.MovePartCounts(t.Context(), of)
		want := []moving.PartCount{
			{Kind: moving.MemberPart, Stage: moving.PartFound, N: 1}, {Kind: moving.MemberPart, Stage: moving.PartReady, Fit: moving.Goes, N: 1},
			{Kind: moving.GroupPart, Stage: moving.PartMade, Fit: moving.Changes, N: 1},
		}
		if diff := cmp.Diff(want, counts); diff != "" || err != nil {
			t.Errorf("%v, %s", err, diff)
		}
		if err := tx.DropMoveParts(t.Context(), of, later); err != nil {
			return err
		}
		if left := all(tx, moving.PartMatch{}, moving.PartKey{}, 9); !slices.Equal(left, []string{"ana@example.com", "17"}) {
			t.Errorf("what is made or comes from a file was removed, or what is gone was kept: %v", left)
		}
		return nil
	})
}
