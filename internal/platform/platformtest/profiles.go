package platformtest

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform"
)

// Delivery is what a store has for delivering things.
type Delivery interface {
	// Locations returns at least two locations of the store.
	Locations() []int64
	// Carrier returns a carrier service of the store.
	Carrier() int64
	// Rates describes the rates of a profile, place by place and zone by zone,
	// such as "6001 US-CA: Express 5.00 price≥10.00".
	Rates(profile int64) []string
}

// profiling are the promises of platform.Profiles.
var profiling = []promise{
	{"a delivery profile is made as it is specified", func(t *testing.T, w World) {
		d := delivery(t, w)
		spec := profileSpec(d, "Subscriptions")
		id := createProfile(t, w, spec)
		want(t, d, id,
			place(d, 0)+" US-CA: Express 5.00 price≥10.00 price≤99.50 weight≤20 POUNDS",
			place(d, 0)+" DE: Parcel 3.00 weight≥0.5 KILOGRAMS",
			place(d, 0)+" *: Carrier carrier",
			place(d, 1)+" US: Standard 0.00",
		)
		if got := named(t, w, "Subscriptions"); !slices.Equal(got, []int64{id}) {
			t.Errorf("profiles of that name: %v, want %d", got, id)
		}
	}},
	{"profiles are listed oldest first, the default one among them", func(t *testing.T, w World) {
		d := delivery(t, w)
		createProfile(t, w, profileSpec(d, "A"))
		createProfile(t, w, profileSpec(d, "B"))
		list, err := w.Platform().Profiles(t.Context(), w.Shop())
		if err != nil || len(list) != 3 {
			t.Fatalf("%+v, %v", list, err)
		}
		if !slices.IsSortedFunc(list, func(a, b platform.Profile) int { return int(a.ID - b.ID) }) || !list[0].Default || list[2].Name != "B" || list[2].Default {
			t.Errorf("%+v", list)
		}
	}},
	{"a profile whose answer was lost is found among the newer ones", func(t *testing.T, w World) {
		spec := profileSpec(delivery(t, w), "Lost")
		w.Break(AnswerLost, func() {
			if _, err := w.Platform().CreateProfile(t.Context(), w.Shop(), spec); !errors.Is(err, platform.ErrUnknown) {
				t.Errorf("got %v, want ErrUnknown", err)
			}
		})
		if got := named(t, w, "Lost"); len(got) != 1 {
			t.Errorf("%d profiles of that name", len(got))
		}
	}},
	{"a profile that was never created is not found", func(t *testing.T, w World) {
		spec := profileSpec(delivery(t, w), "Lost")
		w.Break(RequestLost, func() {
			if _, err := w.Platform().CreateProfile(t.Context(), w.Shop(), spec); !errors.Is(err, platform.ErrUnknown) {
				t.Errorf("got %v, want ErrUnknown", err)
			}
		})
		if got := named(t, w, "Lost"); len(got) != 0 {
			t.Errorf("%d profiles of that name", len(got))
		}
	}},
	{"a location that the store does not have is refused, with the place at fault", func(t *testing.T, w World) {
		spec := profileSpec(delivery(t, w), "Nowhere")
		spec.Places[1].Location = 99
		wantProfileRefusal(t, w, spec, "places.1.location", "Location could not be found")
	}},
	{"a carrier that the store does not have is refused, with the rate at fault", func(t *testing.T, w World) {
		spec := profileSpec(delivery(t, w), "Nobody")
		spec.Places[0].Zones[2].Rates[0].Carrier = 99
		wantProfileRefusal(t, w, spec, "places.0.zones.2.rates.0.carrier", "")
	}},
	{"a zone without a place on earth is refused", func(t *testing.T, w World) {
		spec := profileSpec(delivery(t, w), "Utopia")
		spec.Places[0].Zones[0].Country = "QQ"
		if _, err := w.Platform().CreateProfile(t.Context(), w.Shop(), spec); !isRefusal(err) {
			t.Errorf("got %v, want a refusal", err)
		}
	}},
	{"a name that is too long is refused", func(t *testing.T, w World) {
		wantProfileRefusal(t, w, profileSpec(delivery(t, w), strings.Repeat("x", 128)), "name", "less than 128 characters")
	}},
	{"replacing a profile makes it the new one, however often", func(t *testing.T, w World) {
		d := delivery(t, w)
		id := createProfile(t, w, profileSpec(d, "Before"))
		next := platform.ProfileSpec{Name: "After", Places: []platform.Place{{
			Location: d.Locations()[0],
			Zones:    []platform.Zone{{Country: "FR", Rates: []platform.Rate{{Name: "Colis", Price: dollars(700)}}}},
		}}}
		for range 2 {
			if err := w.Platform().ReplaceProfile(t.Context(), w.Shop(), id, next); err != nil {
				t.Fatal(err)
			}
			want(t, d, id, place(d, 0)+" FR: Colis 7.00")
		}
		if got := named(t, w, "After"); !slices.Equal(got, []int64{id}) || len(named(t, w, "Before")) != 0 {
			t.Errorf("profiles of the new name: %v", got)
		}
	}},
	{"a replacement without places leaves them alone", func(t *testing.T, w World) {
		d := delivery(t, w)
		id := createProfile(t, w, profileSpec(d, "Before"))
		before := d.Rates(id)
		if err := w.Platform().ReplaceProfile(t.Context(), w.Shop(), id, platform.ProfileSpec{Name: "After"}); err != nil {
			t.Fatal(err)
		}
		want(t, d, id, before...)
	}},
	{"a refused replacement changes nothing", func(t *testing.T, w World) {
		d := delivery(t, w)
		id := createProfile(t, w, profileSpec(d, "Before"))
		before := d.Rates(id)
		bad := profileSpec(d, "After")
		bad.Places[1].Location = 99
		err := w.Platform().ReplaceProfile(t.Context(), w.Shop(), id, bad)
		if r, ok := errors.AsType[*platform.Refusal](err); !ok || r.Field != "places.1.location" {
			t.Errorf("got %#v", err)
		}
		want(t, d, id, before...)
		if len(named(t, w, "Before")) != 1 {
			t.Error("the name has changed")
		}
	}},
	{"a profile that is gone cannot be replaced", func(t *testing.T, w World) {
		err := w.Platform().ReplaceProfile(t.Context(), w.Shop(), 99, profileSpec(delivery(t, w), "Gone"))
		if !errors.Is(err, platform.ErrNotFound) {
			t.Errorf("got %v, want ErrNotFound", err)
		}
	}},
}

func delivery(t *testing.T, w World) Delivery {
	t.Helper()
	d, ok := w.(Delivery)
	if !ok || len(d.Locations()) < 2 {
		t.Fatal("the world has nothing to deliver with")
	}
	return d
}

// profileSpec is a profile of every kind of zone, rate and condition.
func profileSpec(d Delivery, name string) platform.ProfileSpec {
	low, high := dollars(1000), dollars(9950)
	return platform.ProfileSpec{Name: name, Places: []platform.Place{
		{Location: d.Locations()[0], Zones: []platform.Zone{
			{Country: "US", Province: "CA", Rates: []platform.Rate{{Name: "Express", Price: dollars(500), Conditions: []platform.RateCondition{
				{Operator: platform.AtLeast, Price: &low}, {Operator: platform.AtMost, Price: &high},
				{Operator: platform.AtMost, Weight: &platform.Weight{Value: 20, Unit: platform.Pounds}},
			}}}},
			{Country: "DE", Rates: []platform.Rate{{Name: "Parcel", Price: dollars(300), Conditions: []platform.RateCondition{
				{Operator: platform.AtLeast, Weight: &platform.Weight{Value: 0.5, Unit: platform.Kilograms}},
			}}}},
			{Rates: []platform.Rate{{Name: "Carrier", Carrier: d.Carrier()}}},
		}},
		{Location: d.Locations()[1], Zones: []platform.Zone{{Country: "US", Rates: []platform.Rate{{Name: "Standard", Price: dollars(0)}}}}},
	}}
}

func dollars(cents int64) money.Amount { return money.Amount{Minor: cents, Currency: "USD"} }

func createProfile(t *testing.T, w World, spec platform.ProfileSpec) int64 {
	t.Helper()
	id, err := w.Platform().CreateProfile(t.Context(), w.Shop(), spec)
	if err != nil || id == 0 {
		t.Fatalf("create profile %q: %d, %v", spec.Name, id, err)
	}
	return id
}

// named returns the ids of the profiles of a name.
func named(t *testing.T, w World, name string) []int64 {
	t.Helper()
	list, err := w.Platform().Profiles(t.Context(), w.Shop())
	if err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for _, p := range list {
		if p.Name == name {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

func place(d Delivery, i int) string { return strconv.FormatInt(d.Locations()[i], 10) }

func want(t *testing.T, d Delivery, profile int64, rates ...string) {
	t.Helper()
	if got := d.Rates(profile); !slices.Equal(got, rates) {
		t.Errorf("profile %d has\n%s\nwant\n%s", profile, strings.Join(got, "\n"), strings.Join(rates, "\n"))
	}
}

func isRefusal(err error) bool {
	_, ok := errors.AsType[*platform.Refusal](err)
	return ok
}

func wantProfileRefusal(t *testing.T, w World, spec platform.ProfileSpec, field, message string) {
	t.Helper()
	_, err := w.Platform().CreateProfile(t.Context(), w.Shop(), spec)
	r, ok := errors.AsType[*platform.Refusal](err)
	if !ok || r.Field != field || !strings.Contains(r.Message, message) {
		t.Errorf("got %#v, want a refusal of %q with %q", err, field, message)
	}
	if got := named(t, w, spec.Name); len(got) != 0 {
		t.Errorf("a refused profile is there: %v", got)
	}
}
