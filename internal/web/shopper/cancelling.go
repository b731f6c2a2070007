package shopper

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/retention/session"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

const (
	flowPath   = "/cancel-flow"
	cancelling = "Cancelling"
)

func (o Options) cancelling(api *web.API) {
	show := o.operation("getCancelFlow", http.MethodGet, flowPath, cancelling, "The flow of cancelling a contract",
		"What a shopper who wants to cancel a contract is asked, and what a cancellation does and when. Nothing is written. The session that is open is shown with its step; its id is null when none is. "+
			"400 with the reason when the contract cannot be cancelled.")
	show.Errors = []int{http.StatusNotFound, http.StatusConflict}
	web.Register(api, show, o.showFlow)

	start := o.operation("startCancelSession", http.MethodPost, flowPath, cancelling, "Start cancelling",
		"Begins a session, or answers the contract's session that is open. A session that is left alone ends after a day, and the contract goes on.")
	start.Body = startBody{}
	web.Register(api, start, o.startFlow)

	read := o.operation("getCancelSession", http.MethodGet, flowPath+"/{id}", cancelling, "A session of cancelling", "Where the session is, and what it offers.")
	read.Errors = []int{http.StatusNotFound, http.StatusConflict}
	web.Register(api, read, o.readSession)

	answer := o.operation("answerCancelReason", http.MethodPost, flowPath+"/{id}/reason", cancelling, "Say why",
		"Takes the reason. When an offer fits it and the contract, the step is OFFER and the offer says what accepting it does; otherwise the step is CONFIRM. A session has at most one offer.")
	answer.Body = reasonBody{}
	web.Register(api, answer, o.answerReason)

	accept := o.operation("acceptCancelOffer", http.MethodPost, flowPath+"/{id}/accept", cancelling, "Accept the offer",
		"Changes the contract as the offer says, and ends the session. Accepting it again changes nothing. An offer that cannot be made any more is answered 400, and the step is CONFIRM then.")
	accept.Body = acceptBody{}
	web.Register(api, accept, o.acceptOffer)

	for _, step := range []struct {
		id, path, summary, description string
		do                             func(context.Context, *sessionQuery) (*sessionOut, error)
	}{
		{"declineCancelOffer", "/decline", "Go on without an answer or an offer", "Goes on to the confirmation, past the instructions, the question or the offer.", o.declineOffer},
		{"returnToCancelReason", "/back", "Go back to the question", "Another reason can be given. Once an offer was made there is no other one.", o.backToReason},
		{"keepContract", "/keep", "Keep the contract", "Ends the session. Nothing changes.", o.keepContract},
		{
			"confirmCancellation", "/confirm", "Cancel the contract",
			"Cancels the contract, from every step. With committed orders or deliveries that are paid for the outcome is CANCEL_SCHEDULED, and endsAt says when the contract ends. Confirming again changes nothing.", o.confirmCancel,
		},
	} {
		web.Register(api, o.operation(step.id, http.MethodPost, flowPath+"/{id}"+step.path, cancelling, step.summary, step.description), step.do)
	}

	comment := o.operation("commentCancellation", http.MethodPost, flowPath+"/{id}/comment", cancelling, "Say more", "Keeps what the shopper has to say once the session has ended, within a day.")
	comment.Body = commentBody{}
	web.Register(api, comment, o.commentCancel)
}

type flowQuery struct {
	Contract string `query:"contractId" required:"true" format:"id" doc:"The contract: number or graph id."`
	Locale   string `query:"locale" maxLength:"20" example:"de" doc:"Language of the labels. Absent: English."`
}

type sessionQuery struct {
	ID     int64  `path:"id" minimum:"1" maximum:"9007199254740991" doc:"The session."`
	Locale string `query:"locale" maxLength:"20" example:"de" doc:"Language of the labels. Absent: English."`

	Version web.Opt[int64] `query:"version" minimum:"1" doc:"Version of the contract that the shopper has seen. 409 changedMeanwhile when an offer is accepted or a cancellation is confirmed and it has another one. Absent: not compared."`
}

type startIn struct {
	web.JSONBody
	Locale string `query:"locale" maxLength:"20" example:"de" doc:"Language of the labels. Absent: English."`
}

type startBody struct {
	ContractID web.AnyID `json:"contractId" doc:"The contract: number or graph id."`
}

type reasonIn struct {
	web.JSONBody
	ID     int64  `path:"id" minimum:"1" maximum:"9007199254740991" doc:"The session."`
	Locale string `query:"locale" maxLength:"20" example:"de" doc:"Language of the labels. Absent: English."`

	Version web.Opt[int64] `query:"version" minimum:"1" doc:"Version of the contract that the shopper has seen. 409 changedMeanwhile when an offer is accepted or a cancellation is confirmed and it has another one. Absent: not compared."`
}

func (in *reasonIn) session() sessionQuery {
	return sessionQuery{ID: in.ID, Locale: in.Locale, Version: in.Version}
}

type reasonBody struct {
	Reason  string  `json:"reason" minLength:"1" maxLength:"40" doc:"Key of the reason." example:"too-much"`
	Comment *string `json:"comment,omitempty" nullable:"true" maxLength:"500" doc:"What else there is to say. Some reasons require it." example:"Two bags a month are enough"`
}

type acceptBody struct {
	Choice *string `json:"choice,omitempty" nullable:"true" maxLength:"255" doc:"Key of what was chosen, where the offer has choices." example:"7002"`
}

type commentBody struct {
	Comment string `json:"comment" maxLength:"500" doc:"What the store could do better." example:"Smaller bags"`
}

func (o Options) showFlow(ctx context.Context, in *flowQuery) (*sessionOut, error) {
	caller := web.CallerOf(ctx)
	of, err := web.ParseID(record.ContractTypename, "contractId", in.Contract)
	if err != nil {
		return nil, err
	}
	v, err := o.Cancelling.Shown(ctx, caller.Shop.ID, session.Command{Line: o.Line, Contract: contract.ID(of), Actor: caller.Actor})
	return newSessionOut(v, in.Locale, err)
}

func (o Options) startFlow(ctx context.Context, in *startIn) (*sessionOut, error) {
	caller := web.CallerOf(ctx)
	var body startBody
	if err := in.Into(&body); err != nil {
		return nil, err
	}
	of, err := required(body.ContractID, record.ContractTypename, "contractId")
	if err != nil {
		return nil, err
	}
	v, err := o.Cancelling.Start(ctx, caller.Shop.ID, session.Command{Line: o.Line, Contract: contract.ID(of), Actor: caller.Actor})
	return newSessionOut(v, in.Locale, err)
}

// named returns the command on a session of the caller's.
func (o Options) named(ctx context.Context, in sessionQuery) (shop.ID, session.Named) {
	caller := web.CallerOf(ctx)
	return caller.Shop.ID, session.Named{Line: o.Line, Session: session.ID(in.ID), Version: in.Version.Value, Actor: caller.Actor}
}

// step carries out a step that has no input.
func (o Options) step(ctx context.Context, in *sessionQuery, do func(context.Context, shop.ID, session.Named) (session.View, error)) (*sessionOut, error) {
	of, cmd := o.named(ctx, *in)
	v, err := do(ctx, of, cmd)
	return newSessionOut(v, in.Locale, err)
}

func (o Options) readSession(ctx context.Context, in *sessionQuery) (*sessionOut, error) {
	return o.step(ctx, in, o.Cancelling.Session)
}

func (o Options) declineOffer(ctx context.Context, in *sessionQuery) (*sessionOut, error) {
	return o.step(ctx, in, o.Cancelling.Decline)
}

func (o Options) backToReason(ctx context.Context, in *sessionQuery) (*sessionOut, error) {
	return o.step(ctx, in, o.Cancelling.Back)
}

func (o Options) keepContract(ctx context.Context, in *sessionQuery) (*sessionOut, error) {
	return o.step(ctx, in, o.Cancelling.Keep)
}

func (o Options) confirmCancel(ctx context.Context, in *sessionQuery) (*sessionOut, error) {
	return o.step(ctx, in, o.Cancelling.Confirm)
}

func (o Options) answerReason(ctx context.Context, in *reasonIn) (*sessionOut, error) {
	var body reasonBody
	if err := in.Into(&body); err != nil {
		return nil, err
	}
	if err := web.CheckLengths(body); err != nil {
		return nil, err
	}
	of, cmd := o.named(ctx, in.session())
	v, err := o.Cancelling.Answer(ctx, of, session.Answer{Named: cmd, Reason: body.Reason, Comment: text(body.Comment)})
	return newSessionOut(v, in.Locale, err)
}

func (o Options) acceptOffer(ctx context.Context, in *reasonIn) (*sessionOut, error) {
	var body acceptBody
	if err := in.Into(&body); err != nil {
		return nil, err
	}
	if err := web.CheckLengths(body); err != nil {
		return nil, err
	}
	of, cmd := o.named(ctx, in.session())
	v, err := o.Cancelling.Accept(ctx, of, session.Acceptance{Named: cmd, Choice: text(body.Choice)})
	return newSessionOut(v, in.Locale, err)
}

func (o Options) commentCancel(ctx context.Context, in *reasonIn) (*sessionOut, error) {
	var body commentBody
	if err := in.Into(&body); err != nil {
		return nil, err
	}
	if err := web.CheckLengths(body); err != nil {
		return nil, err
	}
	if body.Comment == "" {
		return nil, fault.New(fault.Invalid, "field 'comment' is required").Code("bodyField").Field("comment")
	}
	of, cmd := o.named(ctx, in.session())
	v, err := o.Cancelling.Comment(ctx, of, session.Answer{Named: cmd, Comment: body.Comment})
	return newSessionOut(v, in.Locale, err)
}
