package portal

import (
	"context"
	"net/http"

	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Unsubscribing ends e-mails for customers who are not signed in. Failures are faults.
type Unsubscribing interface {
	Unsubscription(of shop.ID, token string) (do.Unsubscription, error)
	Unsubscribe(ctx context.Context, of shop.ID, token string, again bool) (do.Unsubscription, error)
}

// UnsubscribePath is what the paths of pages begin with, below the portal's, that end e-mails. The token
// follows.
const UnsubscribePath = "/u/"

// unsubscription is what the page shows that ends e-mails.
type unsubscription struct {
	Token string
	Ended bool
}

func (p *portal) unsubscribeView(v View, title, text string, u do.Unsubscription, page unsubscription) View {
	v.Title, v.Lead, v.Page = v.T(title), v.T(text, "kind", v.T("mail."+string(u.Kind))), page
	return v
}

// askToUnsubscribe shows what a link ends. It does nothing yet: programs that scan mail follow links.
func (p *portal) askToUnsubscribe(w http.ResponseWriter, r *http.Request, of shop.Shop, v View) error {
	token := linkOf(r.Context())
	u, err := p.Mails.Unsubscription(of.ID, token)
	if err != nil {
		return err
	}
	return p.renderer.render(w, http.StatusOK, "unsubscribe", p.unsubscribeView(v, "unsubscribe.title", "unsubscribe.text", u, unsubscription{Token: token}))
}

// unsubscribe ends e-mails, for a reader who presses the button and for a mail program that sends the
// one request of RFC 8058.
func (p *portal) unsubscribe(w http.ResponseWriter, r *http.Request, of shop.Shop, v View) error {
	token, again := linkOf(r.Context()), r.PostForm.Has("again")
	u, err := p.Mails.Unsubscribe(r.Context(), of.ID, token, again)
	if err != nil {
		return err
	}
	if again {
		v = p.unsubscribeView(v, "unsubscribe.again.title", "unsubscribe.again.text", u, unsubscription{Token: token})
	} else {
		v = p.unsubscribeView(v, "unsubscribe.done.title", "unsubscribe.done.text", u, unsubscription{Token: token, Ended: true})
	}
	return p.renderer.render(w, http.StatusOK, "unsubscribe", v)
}
