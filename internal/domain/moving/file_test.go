package moving_test

import (
	"reflect"
	"testing"

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
