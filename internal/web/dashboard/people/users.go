package people

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// roleAbout says what each role may do.
var roleAbout = map[staff.Role]string{
	staff.Owner: "everything", staff.Admin: "everything except owners", staff.Support: "contracts and portal links", staff.Analyst: "reads, changes nothing",
	staff.Developer: "API keys and webhooks",
}

// permissionWords are the permissions as pages name them.
var permissionWords = map[staff.Permission]string{
	staff.ReadStore: "See contracts, orders and figures", staff.ManageContracts: "Change contracts, send portal links", staff.ManageStore: "Change plans and settings",
	staff.ManageKeys: "Manage API keys and webhooks", staff.ManageUsers: "Manage users", staff.ManageOwners: "Manage owners",
}

// choice is a role in a list of choices.
type choice struct {
	Value    staff.Role
	Name     string
	About    string
	Selected bool
}

func choices(may []staff.Role, selected staff.Role) []choice {
	var list []choice
	for _, r := range may {
		list = append(list, choice{r, dashboard.RoleName(r), roleAbout[r], r == selected})
	}
	return list
}

// userRow is a user in the list.
type userRow struct {
	ID        staff.UserID
	Name      string
	Email     string
	You       bool
	Role      string
	Roles     []choice // that the reader may give; none: the role is only shown
	TwoFactor bool
	Password  bool
	Joined    string
}

// invitationRow is an open invitation in the list.
type invitationRow struct {
	Email, Role, By, Ends string
}

// grant is a permission and which roles have it.
type grant struct {
	Name string
	Has  []bool // in the order of the roles
}

// usersPage is what the page of users shows.
type usersPage struct {
	Users       []userRow
	Invitations []invitationRow
	Email       string
	Roles       []choice // for an invitation
	RoleNames   []string
	Grants      []grant
}

func (m *room) users(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	return m.showUsers(w, r, v, staff.Support, nil)
}

// showUsers shows the page, with what is wrong with the form of an invitation.
func (m *room) showUsers(w http.ResponseWriter, r *http.Request, v dashboard.Visit, selected staff.Role, wrong error) error {
	people, err := m.Staff.People(r.Context(), v.Shop.ID)
	if err != nil {
		return err
	}
	open, err := m.Staff.Invitations(r.Context(), v.Shop.ID)
	if err != nil {
		return err
	}
	p := usersPage{Email: r.PostForm.Get("email"), Roles: choices(v.Role.Manages(), selected)}
	for _, one := range people {
		row := userRow{
			ID: one.User, Name: one.Name, Email: one.Email, You: one.User == v.User.User.ID, Role: dashboard.RoleName(one.Role), TwoFactor: one.TwoFactor,
			Password: one.HasPassword, Joined: v.Day(one.CreatedAt),
		}
		if may := v.Role.Manages(); slices.Contains(may, one.Role) {
			row.Roles = choices(may, one.Role)
		}
		p.Users = append(p.Users, row)
	}
	for _, i := range open {
		p.Invitations = append(p.Invitations, invitationRow{i.Email, dashboard.RoleName(i.Role), i.InvitedBy, v.Instant(i.ExpiresAt)})
	}
	for _, role := range staff.Roles {
		p.RoleNames = append(p.RoleNames, dashboard.RoleName(role))
	}
	for _, permission := range staff.Permissions {
		g := grant{Name: permissionWords[permission]}
		for _, role := range staff.Roles {
			g.Has = append(g.Has, role.May(permission))
		}
		p.Grants = append(p.Grants, g)
	}
	page := dashboard.Page{Name: "users", Title: "Users", Lead: "Who may open the dashboard of this store, and what each may do.", Content: p}
	if wrong != nil {
		return v.Refuse(w, r, page, wrong)
	}
	return v.Answer(w, page)
}

func (m *room) invite(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	role, err := staff.ParseRole(r.PostForm.Get("role"))
	if err == nil {
		err = m.Staff.Invite(r.Context(), v.Shop.ID, v.Acting(r), r.PostForm.Get("email"), role)
	}
	if err != nil {
		return m.showUsers(w, r, v, role, err)
	}
	return v.Go(w, "/users", "invited")
}

func (m *room) withdraw(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	if err := m.Staff.Withdraw(r.Context(), v.Shop.ID, v.Acting(r), r.PostForm.Get("withdraw")); err != nil {
		return err
	}
	return v.Go(w, "/users", "withdrawn")
}

func userID(text string) (staff.UserID, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || strings.HasPrefix(text, "+") {
		return 0, fault.New(fault.NotFound, "the user does not belong to the store").Code("userNotFound")
	}
	return staff.UserID(id), nil
}

func (m *room) changeRole(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	id, err := userID(r.PostForm.Get("user"))
	if err != nil {
		return err
	}
	role, err := staff.ParseRole(r.PostForm.Get("role"))
	if err == nil {
		err = m.Staff.ChangeRole(r.Context(), v.Shop.ID, v.Acting(r), id, role)
	}
	if err != nil {
		if f, ok := errors.AsType[*fault.Error](err); ok {
			f.Param = "" // the field is that of an invitation
		}
		return m.showUsers(w, r, v, staff.Support, err)
	}
	return v.Go(w, "/users", "role")
}

// removalPage is what the page that asks before a removal shows.
type removalPage struct {
	ID   staff.UserID
	Name string
	You  bool
}

func (m *room) removal(r *http.Request, v dashboard.Visit) (removalPage, error) {
	id, err := userID(r.PathValue("user"))
	if err != nil {
		return removalPage{}, err
	}
	people, err := m.Staff.People(r.Context(), v.Shop.ID)
	if err != nil {
		return removalPage{}, err
	}
	i := slices.IndexFunc(people, func(p staff.Person) bool { return p.User == id })
	if i < 0 {
		return removalPage{}, fault.New(fault.NotFound, "the user does not belong to the store").Code("userNotFound")
	}
	return removalPage{id, people[i].Known(), id == v.User.User.ID}, nil
}

func (p removalPage) page() dashboard.Page {
	return dashboard.Page{Name: "remove", Title: "Remove " + p.Name, Content: p}
}

func (m *room) confirmRemoval(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	p, err := m.removal(r, v)
	if err != nil {
		return err
	}
	return v.Answer(w, p.page())
}

func (m *room) remove(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	p, err := m.removal(r, v)
	if err != nil {
		return err
	}
	if err := m.Staff.Remove(r.Context(), v.Shop.ID, v.Acting(r), p.ID); err != nil {
		return v.Refuse(w, r, p.page(), err)
	}
	if p.You {
		return dashboard.Redirect(w, dashboard.Path)
	}
	return v.Go(w, "/users", "removed")
}
