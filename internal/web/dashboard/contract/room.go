// Package contract is the page of one contract: what it has, what comes, what was, why, and what
// can be done about it.
package contract

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
	said := map[string]string{"contract-commented": "The comment was added.", "contract-uncommented": "The comment was deleted."}
	for _, a := range actions {
		said["contract-"+a.name] = a.done
	}
	return dashboard.Room{
		Pages: pages,
		Routes: []dashboard.Route{
			{Pattern: "GET /contracts/{contract}", Need: staff.ReadStore, Show: m.show},
			{Pattern: "GET /contracts/{contract}/delivery", Need: staff.ReadStore, Show: m.delivery},
			{Pattern: "GET /contracts/{contract}/orders/{attempt}", Need: staff.ReadStore, Show: m.why},
			{Pattern: "GET /contracts/{contract}/mails/{mail}", Need: staff.ReadStore, Show: m.mail},
			{Pattern: "GET /contracts/{contract}/do/{action}", Need: staff.ManageContracts, Show: m.ask},
			{Pattern: "POST /contracts/{contract}/do/{action}", Need: staff.ManageContracts, Show: m.act},
			{Pattern: "POST /contracts/{contract}/portal", Need: staff.ManageContracts, Show: m.openPortal},
			{Pattern: "GET /contracts/{contract}/portal", Need: staff.ManageContracts, Show: m.askPortal},
			{Pattern: "POST /contracts/{contract}/comments", Need: staff.ManageContracts, Show: m.comment},
			{Pattern: "POST /contracts/{contract}/comments/{comment}/delete", Need: staff.ManageContracts, Show: m.uncomment},
		},
		Said: said,
	}
}
