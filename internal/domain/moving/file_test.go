package moving_test

import (
	"reflect"
	"testing"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/moving"
)

func TestUnreadColumnsStopUntilTheyAreMappedOrLeftOut(t *testing.T) {
	t.Parallel()
	f := moving.File{
		Header: []string{"id", "Tax", "Colour", "", "Empty", "When", ""},
		Columns: []moving.Column{
			{Values: 3}, {Values: 3, Looks: moving.Money}, {Values: 2}, {Values: 1, Looks: moving.Quantity}, {}, {Values: 3, Looks: moving.Date}, {},
		},
	}
	type unread struct {
		name  string
		stops bool
	}
	for _, row := range []struct {
		name    string
		choices moving.Choices
		want    []unread
	}{
		{
			name:    "nothing is chosen",
			choices: moving.Choices{Fields: map[string]string{"id": "id"}},
			want:    []unread{{"Tax", true}, {"Colour", false}, {"column 4", true}, {"Empty", false}, {"When", true}},
		},
		{
			name:    "one is mapped",
			choices: moving.Choices{Fields: map[string]string{"id": "id", "nextOrderDate": "When", "note": ""}},
			want:    []unread{{"Tax", true}, {"Colour", false}, {"column 4", true}, {"Empty", false}},
		},
		{
			name:    "the others are left out",
			choices: moving.Choices{Fields: map[string]string{"id": "id", "nextOrderDate": "When"}, LeftOut: []string{"Tax", "column 4"}},
			want:    []unread{{"Tax", false}, {"Colour", false}, {"column 4", false}, {"Empty", false}},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var got []unread
			for _, u := range f.Unread(row.choices) {
				got = append(got, unread{u.Name, u.Stops()})
			}
			if !reflect.DeepEqual(got, row.want) {
				t.Errorf("got %v, want %v", got, row.want)
			}
		})
	}
}

func TestTotalsAreByCurrency(t *testing.T) {
	t.Parallel()
	var batch, sum moving.Totals
	batch.Add(money.Amount{Minor: 1250, Currency: "EUR"}, true)
	batch.Add(money.Amount{Minor: 99, Currency: "EUR"}, false)
	batch.Add(money.Amount{Minor: 700, Currency: "JPY"}, true)
	sum.Plus(batch)
	sum.Plus(batch)
	want := moving.Totals{{Currency: "EUR", Contracts: 4, Unpriced: 2, Amount: 2500}, {Currency: "JPY", Contracts: 2, Amount: 1400}}
	if !reflect.DeepEqual(sum, want) {
		t.Errorf("got %+v, want %+v", sum, want)
	}
	m := moving.Move{File: &moving.File{Totals: sum}}
	if m.ListAgain(); m.File.Totals != nil {
		t.Errorf("read again, the file has the totals %+v from before", m.File.Totals)
	}
}
