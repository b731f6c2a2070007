package access

import (
	"slices"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/shop"
)

func TestRequiredScopes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		own     Scope
		on      shop.Line
		changes bool
		want    []Scope
	}{
		"its own on the subscriptions host":             {ContractsRead, shop.Subscriptions, false, []Scope{ContractsRead}},
		"its own there, when it changes something":      {BillingCharge, shop.Subscriptions, true, []Scope{BillingCharge}},
		"memberships:read for contracts:read":           {ContractsRead, shop.Memberships, false, []Scope{MembershipsRead}},
		"memberships:write for contracts:write":         {ContractsWrite, shop.Memberships, true, []Scope{MembershipsWrite}},
		"its own and memberships:write when it changes": {BillingCharge, shop.Memberships, true, []Scope{BillingCharge, MembershipsWrite}},
		"its own and memberships:read when it reads":    {ActivityRead, shop.Memberships, false, []Scope{ActivityRead, MembershipsRead}},
		"no more than its own of the memberships' own":  {MembershipsWrite, shop.Memberships, true, []Scope{MembershipsWrite}},
		"no more than everything":                       {All, shop.Memberships, true, []Scope{All}},
	} {
		if got := Required(test.own, test.on, test.changes); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestScopesInclude(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		have []Scope
		want Scope
		ok   bool
	}{
		"everything includes all":          {[]Scope{All}, BillingCharge, true},
		"writing includes reading":         {[]Scope{ContractsWrite}, ContractsRead, true},
		"reading does not include writing": {[]Scope{ContractsRead}, ContractsWrite, false},
		"writing is not charging":          {[]Scope{BillingWrite}, BillingCharge, false},
		"of another family":                {[]Scope{PlansWrite}, ContractsRead, false},
		"nothing includes nothing":         {nil, ContractsRead, false},
		"all scopes are not everything":    {Scopes[1:], All, false},
	} {
		if got := Allows(test.have, test.want); got != test.ok {
			t.Errorf("%s: %t", name, got)
		}
	}
}
