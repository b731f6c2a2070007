// Package settings is the pages of the dashboard on which a merchant sets how the store is
// charged, and answers for its customers' data.
package settings

import (
	"embed"

	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

//go:embed pages/*.html
var pages embed.FS

// New returns the room.
func New(o Options) dashboard.Room {
	m := &room{o}
	return dashboard.Room{
		Pages: pages,
		Said:  map[string]string{"charging": "Orders are charged from now on.", "settings": "The settings were saved."},
		Menu: []dashboard.Entry{
			{Section: dashboard.Settings, Name: "General", Path: "/settings", Need: staff.ReadStore},
			{Section: dashboard.Settings, Name: "Billing and dunning", Path: "/settings/payments", Need: staff.ReadStore},
			{Section: dashboard.Settings, Name: "E-mails", Path: "/settings/mail", Need: staff.ReadStore},
			{Section: dashboard.Settings, Name: "Customer portal", Path: "/settings/portal", Need: staff.ReadStore},
			{Section: dashboard.Settings, Name: "Charging", Path: "/charging", Need: staff.ReadStore},
			{Section: dashboard.Settings, Name: "Personal data", Path: "/personal-data", Need: staff.ManageStore},
		},
		Routes: []dashboard.Route{
			{Pattern: "GET /settings", Need: staff.ReadStore, Show: m.general},
			{Pattern: "POST /settings", Need: staff.ManageStore, Show: m.saveGeneral},
			{Pattern: "GET /settings/payments", Need: staff.ReadStore, Show: m.payments},
			{Pattern: "POST /settings/payments", Need: staff.ManageStore, Show: m.savePayments},
			{Pattern: "GET /settings/mail", Need: staff.ReadStore, Show: m.mail},
			{Pattern: "POST /settings/mail", Need: staff.ManageStore, Show: m.saveMail},
			{Pattern: "GET /settings/portal", Need: staff.ReadStore, Show: m.portal},
			{Pattern: "POST /settings/portal", Need: staff.ManageStore, Show: m.savePortal},
			{Pattern: "GET /charging", Need: staff.ReadStore, Show: m.charging},
			{Pattern: "POST /charging", Need: confirmCharging, Show: m.confirmCharges},
			{Pattern: "GET /personal-data", Need: staff.ManageStore, Show: m.personal},
			{Pattern: "POST /personal-data/{request}", Need: staff.ManageStore, Show: m.download},
		},
	}
}
