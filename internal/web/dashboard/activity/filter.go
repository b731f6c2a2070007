package activity

import (
	"net/url"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/words"
)

// The parameters of the page are those of the API's activity log.
const (
	source = activity.FieldSource + ".equals"
	event  = activity.FieldEvent + ".equals"
	status = activity.FieldStatus + ".equals"
	kind   = activity.FieldEntityType + ".equals"
	entity = activity.FieldEntityID + ".equals"
	by     = activity.FieldBy + ".contains"
	from   = activity.FieldAt + ".greaterThanOrEqual"
	to     = activity.FieldAt + ".lessThanOrEqual"
)

// statuses are the results of entries as pages name them.
var statuses = map[activity.Status]string{
	activity.Success: "Done", activity.Failure: "Failed", activity.Info: "Notice", activity.Skipped: "Not done", activity.PartialFailure: "Failed in part",
}

// asked returns the filter of a query, and the part of the query that says it.
func (m *room) asked(query url.Values, v dashboard.Visit) ([]page.Criterion, url.Values, error) {
	kept := url.Values{}
	for _, name := range []string{source, event, status, kind, entity, by, from, to} {
		if text := strings.TrimSpace(query.Get(name)); text != "" {
			kept.Set(name, text)
		}
	}
	where, err := m.Criteria(kept, v.Zone)
	return where, kept, err
}

// address returns the path of a page with a filter, at a place of the list.
func address(path string, filter url.Values, at page.Cursor) string {
	q := url.Values{}
	for name := range filter {
		q.Set(name, filter.Get(name))
	}
	if !at.At.IsZero() {
		q.Set("after", at.String())
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// choices returns what a field offers, by name, after the choice of all.
func choices[T ~string](all string, values []T, name func(T) string, chosen string) []dashboard.Choice {
	list := make([]dashboard.Choice, len(values))
	for i, value := range values {
		list[i] = dashboard.Choice{Value: string(value), Name: name(value), Selected: string(value) == chosen}
	}
	slices.SortStableFunc(list, func(a, b dashboard.Choice) int { return strings.Compare(a.Name, b.Name) })
	return append([]dashboard.Choice{{Name: all}}, list...)
}

// selection is a field of the filter.
type selection struct {
	Name, Label string
	Choices     []dashboard.Choice
}

// selections returns the fields with choices.
func selections(filter url.Values) []selection {
	return []selection{
		{source, "Through", choices("All ways", activity.Sources, func(s activity.Source) string { return title(words.Source(s)) }, filter.Get(source))},
		{status, "Result", choices("All results", activity.Statuses, func(s activity.Status) string { return statuses[s] }, filter.Get(status))},
		{kind, "About", choices("All kinds", activity.EntityTypes, func(e activity.EntityType) string { return words.Name(string(e)) }, filter.Get(kind))},
		{event, "Event", choices("All events", activity.EventTypes, func(e activity.EventType) string { return words.Name(string(e)) }, filter.Get(event))},
	}
}

func title(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
