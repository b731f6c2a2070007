package portal

import (
	"net/http"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Path is what the paths of all pages on our own domain begin with. A store's handle follows.
const Path = "/p/"

// Proxied is the path below which the platform's app proxy reaches the pages of a line, by the
// line's name: /apps/subscriptions/cp.
func Proxied(line string) string { return "/apps/" + line + "/cp" }

// lines are the lines by their names in paths.
var lines = map[string]shop.Line{"subscriptions": shop.Subscriptions, "memberships": shop.Memberships}

// localeParam is the parameter of a page's address that chooses its language.
const localeParam = "locale"

// Parameters of addresses on the store's domain.
const (
	partParam = "part" // a part of the theme asks for the screen
	pageParam = "page" // the screen is a page of its own, whatever the merchant has chosen
)

// NumberOf returns the number that a path names, or the failure of a page that does not exist.
func NumberOf(r *http.Request, name string) (int64, error) {
	n, err := strconv.ParseInt(r.PathValue(name), 10, 64)
	if err != nil || n < 1 {
		return 0, PathNotFound()
	}
	return n, nil
}

// ContractOf returns the contract that a path names as {contract}, likewise.
func ContractOf(r *http.Request) (contract.ID, error) {
	n, err := NumberOf(r, "contract")
	return contract.ID(n), err
}

// PathNotFound returns the failure of a page that does not exist. What belongs to another customer
// does not exist.
func PathNotFound() error { return fault.New(fault.NotFound, "no such page").Code("pathNotFound") }
