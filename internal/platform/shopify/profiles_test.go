package shopify

import (
	"testing"

	"github.com/vektah/gqlparser/v2"

	"github.com/perennialhq/perennial/internal/platform/shopify/admin"
)

func TestDeliveryProfileDocumentsAreValidAndWithinCost(t *testing.T) {
	t.Parallel()
	s := loadSchema(t)
	for _, text := range []string{
		admin.DeliveryProfiles_Operation, admin.DeliveryProfileParts_Operation, admin.CreateDeliveryProfile_Operation, admin.UpdateDeliveryProfile_Operation,
	} {
		doc, errs := gqlparser.LoadQuery(s, text)
		if errs != nil {
			t.Errorf("%v\n%s", errs, text)
			continue
		}
		if points := costOf(t, s, doc); points > maxCost {
			t.Errorf("%v points\n%s", points, text)
		}
	}
}

func TestPathsOfRefusedProfiles(t *testing.T) {
	t.Parallel()
	created, updated := []string{"places.0", "places.2"}, []string{"places.1"}
	for want, field := range map[string][]string{
		"name":                          {"profile", "name"},
		"places.2.location":             {"profile", "locationGroupsToCreate", "1", "locations"},
		"places.1.zones.3.country":      {"locationGroupsToUpdate", "0", "zonesToCreate", "3", "countries"},
		"places.0.zones.1.rates.2.name": {"profile", "locationGroupsToCreate", "0", "zonesToCreate", "1", "methodDefinitionsToCreate", "2", "name"},
		"places.0.zones.1":              {"profile", "locationGroupsToCreate", "0", "zonesToCreate", "1", "whatever"},
		"":                              {"profile", "locationGroupsToCreate", "7", "locations"},
	} {
		if got := profilePath(field, created, updated); got != want {
			t.Errorf("%v is %q, want %q", field, got, want)
		}
	}
}
