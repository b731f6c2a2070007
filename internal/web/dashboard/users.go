package dashboard

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/staff"
)

// roleWords are the roles as pages name and explain them.
var roleWords = map[staff.Role]struct{ name, about string }{
	staff.Owner:     {"Owner", "everything"},
	staff.Admin:     {"Admin", "everything except owners"},
	staff.Support:   {"Support", "contracts and portal links"},
	staff.Analyst:   {"Analyst", "reads, changes nothing"},
	staff.Developer: {"Developer", "API keys and webhooks"},
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
		list = append(list, choice{r, roleWords[r].name, roleWords[r].about, r == selected})
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

// day is how a day is written.
const day = "2 Jan 2006"

func (d *dashboard) users(w http.ResponseWriter, r *http.Request, v visit) error {
	return d.showUsers(w, r, v, staff.Support, nil)
}

// showUsers shows the page, with what is wrong with the form of an invitation.
func (d *dashboard) showUsers(w http.ResponseWriter, r *http.Request, v visit, selected staff.Role, wrong error) error {
	people, err := d.Staff.People(r.Context(), v.shop.ID)
	if err != nil {
		return err
	}
	open, err := d.Staff.Invitations(r.Context(), v.shop.ID)
	if err != nil {
		return err
	}
	calendar, err := v.shop.Calendar()
	if err != nil {
		return err
	}
	p := usersPage{Email: r.PostForm.Get("email"), Roles: choices(v.role.Manages(), selected)}
	for _, one := range people {
		row := userRow{
			ID: one.User, Name: one.Name, Email: one.Email, You: one.User == v.user.User.ID, Role: roleWords[one.Role].name, TwoFactor: one.TwoFactor,
			Password: one.HasPassword, Joined: one.CreatedAt.In(calendar.Zone).Format(day),
		}
		if may := v.role.Manages(); slices.Contains(may, one.Role) {
			row.Roles = choices(may, one.Role)
		}
		p.Users = append(p.Users, row)
	}
	for _, i := range open {
		p.Invitations = append(p.Invitations, invitationRow{i.Email, roleWords[i.Role].name, i.InvitedBy, i.ExpiresAt.In(calendar.Zone).Format(day + ", 15:04 MST")})
	}
	for _, role := range staff.Roles {
		p.RoleNames = append(p.RoleNames, roleWords[role].name)
	}
	for _, permission := range staff.Permissions {
		g := grant{Name: permissionWords[permission]}
		for _, role := range staff.Roles {
			g.Has = append(g.Has, role.May(permission))
		}
		p.Grants = append(p.Grants, g)
	}
	v.view.Title, v.view.Lead, v.view.Page = "Users", "Who may open the dashboard of this store, and what each may do.", p
	if wrong != nil {
		return d.again(w, r, "users", v.view, wrong)
	}
	return d.render(w, http.StatusOK, "users", v.view)
}

func (d *dashboard) invite(w http.ResponseWriter, r *http.Request, v visit) error {
	role, err := staff.ParseRole(r.PostForm.Get("role"))
	if err == nil {
		err = d.Staff.Invite(r.Context(), v.shop.ID, v.acting(r), r.PostForm.Get("email"), role)
	}
	if err != nil {
		return d.showUsers(w, r, v, role, err)
	}
	return redirect(w, v.done("/users", "invited"))
}

func (d *dashboard) withdraw(w http.ResponseWriter, r *http.Request, v visit) error {
	if err := d.Staff.Withdraw(r.Context(), v.shop.ID, v.acting(r), r.PostForm.Get("withdraw")); err != nil {
		return err
	}
	return redirect(w, v.done("/users", "withdrawn"))
}

func userID(text string) (staff.UserID, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || strings.HasPrefix(text, "+") {
		return 0, fault.New(fault.NotFound, "the user does not belong to the store").Code("userNotFound")
	}
	return staff.UserID(id), nil
}

func (d *dashboard) changeRole(w http.ResponseWriter, r *http.Request, v visit) error {
	id, err := userID(r.PostForm.Get("user"))
	if err != nil {
		return err
	}
	role, err := staff.ParseRole(r.PostForm.Get("role"))
	if err == nil {
		err = d.Staff.ChangeRole(r.Context(), v.shop.ID, v.acting(r), id, role)
	}
	if err != nil {
		if f, ok := errors.AsType[*fault.Error](err); ok {
			f.Param = "" // the field is that of an invitation
		}
		return d.showUsers(w, r, v, staff.Support, err)
	}
	return redirect(w, v.done("/users", "role"))
}

// removalPage is what the page that asks before a removal shows.
type removalPage struct {
	ID   staff.UserID
	Name string
	You  bool
}

func (d *dashboard) removal(r *http.Request, v *visit) (removalPage, error) {
	id, err := userID(r.PathValue("user"))
	if err != nil {
		return removalPage{}, err
	}
	people, err := d.Staff.People(r.Context(), v.shop.ID)
	if err != nil {
		return removalPage{}, err
	}
	i := slices.IndexFunc(people, func(p staff.Person) bool { return p.User == id })
	if i < 0 {
		return removalPage{}, fault.New(fault.NotFound, "the user does not belong to the store").Code("userNotFound")
	}
	p := removalPage{id, people[i].Known(), id == v.user.User.ID}
	v.view.Title, v.view.Page = "Remove "+p.Name, p
	return p, nil
}

func (d *dashboard) confirmRemoval(w http.ResponseWriter, r *http.Request, v visit) error {
	if _, err := d.removal(r, &v); err != nil {
		return err
	}
	return d.render(w, http.StatusOK, "remove", v.view)
}

func (d *dashboard) remove(w http.ResponseWriter, r *http.Request, v visit) error {
	p, err := d.removal(r, &v)
	if err != nil {
		return err
	}
	if err := d.Staff.Remove(r.Context(), v.shop.ID, v.acting(r), p.ID); err != nil {
		return d.again(w, r, "remove", v.view, err)
	}
	if p.You {
		return redirect(w, Path)
	}
	return redirect(w, v.done("/users", "removed"))
}
