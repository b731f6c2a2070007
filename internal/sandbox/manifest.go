package sandbox

import (
	"fmt"
	"io"
	"net"
	"os"
	"text/tabwriter"

	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/schema"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
)

// Manifest is what a sandbox tells a program: the text of sandbox.json.
type Manifest struct {
	Version string `json:"version"`
	PID     int    `json:"pid"`
	URLs
	Shop              string          `json:"shop"`
	APIKey            string          `json:"apiKey"`
	DashboardUser     string          `json:"dashboardUser"`
	DashboardPassword string          `json:"dashboardPassword"`
	PlatformToken     platform.Token  `json:"platformToken"`
	AppSecret         string          `json:"appSecret"`
	MembershipsSecret string          `json:"membershipsAppSecret,omitempty"` // of the second app, when there is one
	APIVersion        string          `json:"apiVersion"`
	Customers         []demo.Customer `json:"customers"`
	OtherShop         otherShop       `json:"otherShop"`
	Examples          examples        `json:"examples"`
	Second            *secondInstance `json:"second,omitempty"`
}

// secondInstance is what a program needs to use the second instance.
type secondInstance struct {
	Subscriptions     string         `json:"subscriptions"`
	Memberships       string         `json:"memberships"`
	Loyalty           string         `json:"loyalty"`
	Dashboard         string         `json:"dashboard"`
	DashboardPassword string         `json:"dashboardPassword"`
	APIKey            string         `json:"apiKey"`
	PlatformToken     platform.Token `json:"platformToken"`
	AppSecret         string         `json:"appSecret"`
}

type otherShop struct {
	Shop      string  `json:"shop"`
	APIKey    string  `json:"apiKey"`
	Contracts []int64 `json:"contracts"`
}

// examples are ids of things that the product has.
type examples struct {
	PrepaidContract   int64 `json:"prepaidContractId,omitempty"`
	FrozenContract    int64 `json:"frozenContractId,omitempty"`
	SellingPlan       int64 `json:"sellingPlanId"`
	LoyaltyCustomer   int64 `json:"loyaltyCustomerId,omitempty"`
	Bundle            int64 `json:"bundleId,omitempty"`
	DeliveryProfile   int64 `json:"deliveryProfileId,omitempty"`
	Location          int64 `json:"locationId"`
	SubscriptionGroup int64 `json:"subscriptionGroupId,omitempty"`
	MembershipGroup   int64 `json:"membershipGroupId,omitempty"`
	SwapRule          int64 `json:"swapRuleId,omitempty"`

	Kinds map[string]int64 `json:"kinds,omitempty"` // contracts, by what they show
}

const dashboardUser = "owner@demo.example"

// Manifest returns what sandbox.json says.
func (s *Sandbox) Manifest() Manifest { return s.manifest }

// describe makes the manifest.
func (s *Sandbox) describe() Manifest {
	var second *secondInstance
	if i := s.second; i != nil {
		second = &secondInstance{
			Subscriptions: i.urls.Subscriptions, Memberships: i.urls.Memberships, Loyalty: i.urls.Loyalty, Dashboard: i.urls.Dashboard,
			DashboardPassword: i.own.Password, APIKey: i.own.Keys[demo.Main], PlatformToken: i.own.Tokens[demo.Main], AppSecret: i.own.AppSecret,
		}
	}
	return Manifest{
		Version: s.options.Version, PID: os.Getpid(), URLs: s.urls, Shop: demo.Main, APIKey: s.secrets.Keys[demo.Main],
		DashboardUser: dashboardUser, DashboardPassword: s.secrets.Password, PlatformToken: s.secrets.Tokens[demo.Main],
		AppSecret: s.secrets.AppSecret, MembershipsSecret: s.secrets.MembershipsAppSecret, APIVersion: schema.Version, Customers: s.secrets.Cast.Customers,
		Second:    second,
		OtherShop: otherShop{demo.Other, s.secrets.Keys[demo.Other], s.secrets.Cast.Others},
		Examples:  examples{s.secrets.Cast.Prepaid, s.secrets.Cast.Frozen, demo.EveryMonth, s.loyaltyCustomer(), int64(s.furnished.Bundle), int64(s.furnished.Profile), s.furnished.Location, int64(s.furnished.Subscriptions), int64(s.furnished.Memberships), int64(s.furnished.Swap), s.secrets.Cast.Kinds},
	}
}

// announce tells a person what to open and what to type.
func (s *Sandbox) announce(out io.Writer) {
	m := s.Manifest()
	fmt.Fprintf(out, "\nPerennial sandbox: %s with %d customers. It is %s.\n\n", m.Shop, len(m.Customers), s.clock.Now().Format("2006-01-02 15:04 MST"))
	if host, _, err := net.SplitHostPort(s.options.Listen); err == nil && host != "localhost" && !net.ParseIP(host).IsLoopback() {
		fmt.Fprintf(out, "WARNING: it listens on %q, beyond this machine. Every machine that can reach it can move its time, read its mails and use its keys.\n\n", host)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	rows := [][2]string{
		{"Subscriptions API", m.Subscriptions + "/docs"}, {"Memberships API", m.Memberships}, {"Dashboard", m.Dashboard + staff.Path}, {"  signs in", m.DashboardUser + "  " + m.DashboardPassword},
		{"Storefront", m.Storefront}, {"Platform (simulated)", m.Platform}, {"Control", m.Control},
	}
	if two := m.Second; two != nil {
		rows = append(rows, [][2]string{
			{"Second instance", two.Subscriptions + "/docs"}, {"  Memberships API", two.Memberships}, {"  Dashboard", two.Dashboard + staff.Path}, {"  signs in", m.DashboardUser + "  " + two.DashboardPassword},
		}...)
	}
	for _, row := range append(rows, [2]string{"Data", s.home.path(manifestFile)}) {
		fmt.Fprintf(table, "  %s\t%s\n", row[0], row[1])
	}
	_ = table.Flush() // out may be closed
	fmt.Fprintf(out, `
Contracts, soonest renewal first:
  curl -s -H 'X-API-Key: %s' '%s/api/external/v2/subscription-contract-details?status=active&size=5&sort=next_billing_date'

Let a month pass, then look at the platform's books:
  curl -s -X POST '%s/clock' -d '{"advance":"P1M"}'
  curl -s '%s/platform/orders?contractId=9001'

`, m.APIKey, m.Subscriptions, m.Control, m.Control)
}
