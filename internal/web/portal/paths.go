package portal

// Path is what the paths of all pages on our own domain begin with. A store's handle follows.
const Path = "/p/"

// Proxied is the path below which the platform's app proxy reaches the pages of a line, by the
// line's name: /apps/subscriptions/cp.
func Proxied(line string) string { return "/apps/" + line + "/cp" }

// localeParam is the parameter of a page's address that chooses its language.
const localeParam = "locale"

// Parameters of addresses on the store's domain.
const (
	partParam = "part" // a part of the theme asks for the screen
	pageParam = "page" // the screen is a page of its own, whatever the merchant has chosen
)
