package simulator

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/base/money"
)

// place is a location of the store from which things are sent.
type place struct {
	Shop      string
	ID        int64
	Name      string
	Country   string
	City      string
	CreatedAt time.Time
}

// carrier is a service that says what a delivery costs.
type carrier struct {
	Shop string
	ID   int64
	Name string
}

// profile says what is delivered where, and for how much.
type profile struct {
	Shop       string
	ID         int64
	App        string `json:",omitempty"` // owner, unless it is the default
	Name       string
	Default    bool `json:",omitempty"`
	Removed    bool `json:",omitempty"`
	Version    int
	Groups     []*locationGroup `json:",omitempty"`
	PlanGroups []int64          `json:",omitempty"` // selling plan groups
	Variants   []int64          `json:",omitempty"`
}

// locationGroup is locations with the same zones.
type locationGroup struct {
	ID        int64
	Locations []int64
	Zones     []*zone
}

type zone struct {
	ID        int64
	Name      string
	Countries []zoneCountry
	Rates     []*rate
}

// zoneCountry is a country of a zone; without a code the rest of the world.
type zoneCountry struct {
	ID        int64
	Code      string   `json:",omitempty"`
	Whole     bool     `json:",omitempty"`
	Provinces []string `json:",omitempty"`
}

// rate is a way of delivery: a price or a carrier's.
type rate struct {
	ID         int64
	Name       string
	Text       string `json:",omitempty"`
	Inactive   bool   `json:",omitempty"`
	Price      money.Amount
	Carrier    int64           `json:",omitempty"`
	Fee        *money.Amount   `json:",omitempty"`
	FeePercent float64         `json:",omitempty"`
	Adapts     bool            `json:",omitempty"`
	Conditions []rateCondition `json:",omitempty"`
}

// rateCondition compares a price or a weight.
type rateCondition struct {
	ID       int64
	Operator string
	Price    *money.Amount `json:",omitempty"`
	Weight   *weight       `json:",omitempty"`
}

type weight struct {
	Value float64
	Unit  string
}

func (l *place) key() rowKey   { return number("location", l.Shop, l.ID) }
func (c *carrier) key() rowKey { return number("carrier", c.Shop, c.ID) }
func (p *profile) key() rowKey { return number("profile", p.Shop, p.ID) }

func (l *place) gid() string   { return gid.Of("Location", l.ID) }
func (p *profile) gid() string { return gid.Of("DeliveryProfile", p.ID) }

// clone returns a copy to be changed, so that a change that is refused leaves
// nothing behind.
func (p *profile) clone() *profile {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // it is kept as JSON anyway
	}
	c := new(profile)
	if err := json.Unmarshal(text, c); err != nil {
		panic(err)
	}
	return c
}

// First ids of the first store.
const (
	firstLocation    = 6001
	firstCarrier     = 6501
	firstProfile     = 8001
	firstProfilePart = 80_001
)

// addDelivery gives a new store what every store has: two locations, a carrier
// and the profile of all that is in no other.
func (s *Simulator) addDelivery(sh *store, base int64) {
	sh.next.Location, sh.next.Carrier = base+firstLocation, base+firstCarrier
	sh.next.Profile, sh.next.ProfilePart = base+firstProfile, base+firstProfilePart
	for _, l := range []place{{Name: "Main warehouse", City: "Springfield"}, {Name: "Second warehouse", City: "Shelbyville"}} {
		l.Shop, l.ID, l.Country, l.CreatedAt = sh.Domain, take(&sh.next.Location), sh.Country, sh.CreatedAt
		sh.locations.add(l.ID, &l)
		s.save(&l)
	}
	c := &carrier{Shop: sh.Domain, ID: take(&sh.next.Carrier), Name: "Parcel service"}
	sh.carriers.add(c.ID, c)
	s.save(c)
	p := &profile{Shop: sh.Domain, ID: take(&sh.next.Profile), Name: "General profile", Default: true, Version: 1}
	sh.profiles.add(p.ID, p)
	s.save(p)
}

// Location is a place of a store.
type Location struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// Locations lists the places of a store; "" is the first store.
func (s *Simulator) Locations(shop string) ([]Location, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh, err := s.store(shop)
	if err != nil {
		return nil, err
	}
	var list []Location
	for _, l := range sh.locations.order {
		list = append(list, Location{l.ID, l.Name})
	}
	return list, nil
}

// profile returns a profile that the app of the token knows: the default one, or one of its own.
func (x *exec) profile(id int64) *profile {
	p, ok := x.shop.profiles.get(id)
	if !ok || p.Removed || !p.Default && p.App != x.app {
		return nil
	}
	return p
}

// zones returns every zone of a profile.
func (p *profile) zones() []*zone {
	var list []*zone
	for _, g := range p.Groups {
		list = append(list, g.Zones...)
	}
	return list
}

func (p *profile) group(id int64) *locationGroup {
	i := slices.IndexFunc(p.Groups, func(g *locationGroup) bool { return g.ID == id })
	if i < 0 {
		return nil
	}
	return p.Groups[i]
}
