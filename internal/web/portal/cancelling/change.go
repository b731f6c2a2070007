package cancelling

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/perennialhq/perennial/internal/domain/retention/session"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// change carries out a step of the contract's session, which it begins if there is none, and leads
// on. A step that is refused shows where the session is, and why. A step that is taken again changes
// nothing: the session knows.
func (m room) change(w http.ResponseWriter, r *http.Request, v portal.Visit, step func(context.Context, session.Named) (session.View, error)) error {
	cmd, err := command(r, v)
	if err != nil {
		return err
	}
	is, err := m.begun(r, v, cmd)
	if err == nil {
		is, err = step(r.Context(), session.Named{Session: is.ID, Version: v.Version(r), Actor: cmd.Actor})
	}
	if err == nil {
		return v.Go(w, leadsTo(is), "")
	}
	return v.Again(err, func() error {
		is, failed := m.Sessions.Shown(r.Context(), v.Shop.ID, cmd)
		if failed != nil {
			return err
		}
		return v.Refuse(w, r, m.screen(v, is, r), err)
	})
}

// begun returns the session that a form names, which must be the contract's, or begins one.
func (m room) begun(r *http.Request, v portal.Visit, cmd session.Command) (session.View, error) {
	if r.PostForm.Get("session") == "" {
		return m.Sessions.Start(r.Context(), v.Shop.ID, cmd)
	}
	return m.named(r, v)
}

// leadsTo returns the screen that follows.
func leadsTo(is session.View) string {
	at := words.Path(is.Contract.ID)
	switch is.Outcome {
	case session.Kept, session.Abandoned:
		return at + "?done=cancel-kept"
	case session.Accepted:
		return at + "?done=cancel-" + string(is.Offer.Kind)
	case session.Cancelled, session.Scheduled:
		return fmt.Sprintf("%s/cancelled?session=%d", at, is.ID)
	}
	return at + "/cancel"
}

func (m room) answer(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	return m.change(w, r, v, func(ctx context.Context, cmd session.Named) (session.View, error) {
		return m.Sessions.Answer(ctx, v.Shop.ID, session.Answer{Named: cmd, Reason: r.PostForm.Get("reason"), Comment: r.PostForm.Get("comment")})
	})
}

func (m room) decline(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	return m.change(w, r, v, func(ctx context.Context, cmd session.Named) (session.View, error) {
		return m.Sessions.Decline(ctx, v.Shop.ID, cmd)
	})
}

func (m room) accept(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	return m.change(w, r, v, func(ctx context.Context, cmd session.Named) (session.View, error) {
		return m.Sessions.Accept(ctx, v.Shop.ID, session.Acceptance{Named: cmd, Choice: r.PostForm.Get("choice")})
	})
}

func (m room) keep(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	return m.change(w, r, v, func(ctx context.Context, cmd session.Named) (session.View, error) {
		return m.Sessions.Keep(ctx, v.Shop.ID, cmd)
	})
}

func (m room) confirm(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	return m.change(w, r, v, func(ctx context.Context, cmd session.Named) (session.View, error) {
		return m.Sessions.Confirm(ctx, v.Shop.ID, cmd)
	})
}

// comment keeps what the customer has to say afterwards.
func (m room) comment(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	is, err := m.cancelled(r, v)
	if err != nil {
		return err
	}
	_, err = m.Sessions.Comment(r.Context(), v.Shop.ID, session.Answer{Named: session.Named{Session: is.ID, Actor: v.Actor(r)}, Comment: r.PostForm.Get("comment")})
	if err == nil {
		return v.Go(w, leadsTo(is), "cancel-comment")
	}
	return v.Again(err, func() error { return v.Refuse(w, r, endedPage(v, is), err) })
}

// named reads the session that a request names, which must be the contract's.
func (m room) named(r *http.Request, v portal.Visit) (session.View, error) {
	id, err := portal.ContractOf(r)
	if err != nil {
		return session.View{}, err
	}
	number, err := strconv.ParseInt(r.FormValue("session"), 10, 64)
	if err != nil {
		return session.View{}, portal.PathNotFound()
	}
	is, err := m.Sessions.Session(r.Context(), v.Shop.ID, session.Named{Session: session.ID(number), Actor: v.Actor(r)})
	if err == nil && is.Contract.ID != id {
		err = session.NotFound(session.ID(number))
	}
	return is, err
}

// cancelled is named for a session that has cancelled its contract.
func (m room) cancelled(r *http.Request, v portal.Visit) (session.View, error) {
	is, err := m.named(r, v)
	if err == nil && is.Outcome != session.Cancelled && is.Outcome != session.Scheduled {
		err = session.NotFound(is.ID)
	}
	return is, err
}
