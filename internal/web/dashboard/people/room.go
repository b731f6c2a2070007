// Package people is the pages of the dashboard about its users: who may open it, and how each
// of them signs in.
package people

import (
	"embed"

	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

//go:embed pages/*.html
var pages embed.FS

// Options are what the pages need.
type Options struct{ Staff *staff.Service }

type room struct{ Options }

// New returns the room.
func New(o Options) dashboard.Room {
	m := &room{o}
	return dashboard.Room{
		Pages: pages,
		Said: map[string]string{
			"invited": "The invitation was sent.", "withdrawn": "The invitation was withdrawn.", "role": "The role was changed.", "removed": "The user was removed.",
			"password": "Your password was changed. Your other sessions have ended.", "two-step-off": "Two-step sign-in is off.", "sessions": "The session has ended.",
		},
		Menu: []dashboard.Entry{{Section: dashboard.Settings, Name: "Users", Path: "/users", Need: staff.ManageUsers}},
		Routes: []dashboard.Route{
			{Pattern: "GET /users", Need: staff.ManageUsers, Show: m.users},
			{Pattern: "POST /users/invite", Need: staff.ManageUsers, Show: m.invite},
			{Pattern: "POST /users/withdraw", Need: staff.ManageUsers, Show: m.withdraw},
			{Pattern: "POST /users/role", Need: staff.ManageUsers, Show: m.changeRole},
			{Pattern: "GET /users/{user}/remove", Need: staff.ManageUsers, Show: m.confirmRemoval},
			{Pattern: "POST /users/{user}/remove", Need: staff.ManageUsers, Show: m.remove},
			{Pattern: "GET /account", Need: staff.ReadStore, Show: inAccount(m.account)},
			{Pattern: "POST /account/password", Need: staff.ReadStore, Show: inAccount(m.changePassword)},
			{Pattern: "GET /account/two-step", Need: staff.ReadStore, Show: inAccount(m.showTwoStep)},
			{Pattern: "POST /account/two-step", Need: staff.ReadStore, Show: inAccount(m.turnTwoStepOn)},
			{Pattern: "POST /account/two-step/off", Need: staff.ReadStore, Show: inAccount(m.turnTwoStepOff)},
			{Pattern: "POST /account/sessions", Need: staff.ReadStore, Show: inAccount(m.revoke)},
		},
	}
}
