package admin

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// Notifications shows a shop's messages, without their words.
type Notifications interface {
	MessagesWhere(ctx context.Context, of shop.ID, q notify.Query, p page.Request) ([]notify.Message, int, error)
	Message(ctx context.Context, of shop.ID, line shop.Line, id notify.MessageID) (notify.Message, error)
}

// Resender sends messages again. Failures are faults.
type Resender interface {
	Resend(ctx context.Context, of shop.ID, id notify.MessageID, by activity.Actor) (notify.Message, error)
}

const notificationsPath = base + "/notifications"

// notificationHandlers show messages and send them again.
type notificationHandlers struct {
	line     shop.Line
	messages Notifications
	resender Resender
}

func (h notificationHandlers) register(api *web.API) {
	list := web.Operation{
		ID: "listNotifications", Method: http.MethodGet, Path: notificationsPath, Tag: "Notifications", Scope: access.ContractsRead, List: &keyList,
		Summary: "Messages to customers",
		Description: "The e-mails and SMS to customers and to the owner of the store, newest first: those that were sent, that wait, that failed, and that were not needed any more, each with the reason. " +
			"Their words are not included, nor are messages to users of the dashboard.",
	}
	web.Register(api, list, h.list)

	resend := web.Operation{
		ID: "resendNotification", Method: http.MethodPost, Path: notificationsPath + "/{id}/resend", Tag: "Notifications", Scope: access.ContractsWrite, Errors: []int{http.StatusNotFound},
		Summary: "Send a message again",
		Description: "Sends a message again that has failed, as a new one, which is the answer. What it reports is checked and written again; it is SUPPRESSED when it holds no longer. " +
			"400 notificationNotFailed: the message has not failed, its recipient was erased, or it is a link that signs in, for which the customer asks again.",
	}
	web.Register(api, once(resend), h.resend)
}

// notification is a message without its words.
type notification struct {
	ID            int64         `json:"id" doc:"Number of the message." example:"1601"`
	Kind          notify.Kind   `json:"kind" doc:"What it reports." example:"upcoming_order"`
	Channel       string        `json:"channel" enum:"mail,sms" doc:"How it travels." example:"mail"`
	Recipient     *string       `json:"recipient" doc:"E-mail address or phone number (E.164); null while the number of an SMS was not looked up, and when the customer was erased." example:"ada@shopper.example"`
	CustomerID    *int64        `json:"customerId" doc:"The customer to whom it goes; null when not known, and when it goes to the owner of the store." example:"7001"`
	ContractID    *int64        `json:"contractId" doc:"The contract that it is about; null when it is about none." example:"9001"`
	AttemptID     *int64        `json:"attemptId" doc:"The billing attempt that it is about; null when it is about none in particular." example:"501"`
	Status        notify.Status `json:"status" enum:"QUEUED,SENDING,SENT,FAILED,SUPPRESSED" doc:"QUEUED: it waits for dueAt. SENT: the mail server, or the provider of SMS, accepted it. FAILED: it was refused, or came back. SUPPRESSED: it was not needed any more." example:"SENT"`
	Reason        *string       `json:"reason" doc:"Why it failed, was suppressed, or is tried again; null when there is nothing to explain." example:"550 5.1.1 there is no such mailbox"`
	Delivery      *string       `json:"deliveryStatus" enum:"DELIVERED,FAILED" doc:"What the provider reported of an SMS that it had accepted; null for an e-mail, and while nothing was reported." example:"DELIVERED"`
	DeliveryError *string       `json:"deliveryError" doc:"Why the SMS was not delivered; null when it was, or nothing was reported." example:"error 30003"`
	CreatedAt     *web.Instant  `json:"createdAt" doc:"When what it reports happened, in UTC." format:"date-time" example:"2026-01-31T08:00:00Z"`
	DueAt         *web.Instant  `json:"dueAt" doc:"When it is sent, or tried again, at the earliest, in UTC; null when it has ended." format:"date-time" example:"2026-01-31T08:10:00Z"`
	SentAt        *web.Instant  `json:"sentAt" doc:"When it was sent, in UTC; null when it was not." format:"date-time" example:"2026-01-31T08:10:00Z"`
}

// channelNames are the names of the channels in the interface.
var channelNames = map[notify.Channel]string{notify.ByMail: "mail", notify.BySMS: "sms"}

// deliveryNames are those of the reports of a provider of SMS.
var deliveryNames = map[notify.Delivery]string{notify.Delivered: "DELIVERED", notify.Undelivered: "FAILED"}

func newNotification(m notify.Message) notification {
	return notification{
		ID: int64(m.ID), Kind: m.Kind, Channel: channelNames[m.Channel], Recipient: web.Some(m.To), CustomerID: web.Some(m.Customer), ContractID: web.Some(int64(m.Contract)), AttemptID: web.Some(m.Attempt),
		Status: m.Status, Reason: web.Some(m.LastError), Delivery: web.Some(deliveryNames[m.Delivery]), DeliveryError: web.Some(m.DeliveryError),
		CreatedAt: web.At(m.CreatedAt), DueAt: web.At(m.DueAt), SentAt: web.At(m.SentAt),
	}
}

type notificationsQuery struct {
	web.Paging
	Contract web.Opt[int64] `query:"contractId" minimum:"1" maximum:"9007199254740991" doc:"Only messages about this contract; none for a contract that the store does not have." example:"9001"`
	Kind     string         `query:"kind" doc:"Only messages of this kind, such as upcoming_order." example:"upcoming_order"`
	Status   string         `query:"status" doc:"Only messages in this state: QUEUED, SENDING, SENT, FAILED or SUPPRESSED." example:"FAILED"`
}

type notificationPage struct {
	web.ListHeaders
	Body []notification
}

func (h notificationHandlers) list(ctx context.Context, in *notificationsQuery) (*notificationPage, error) {
	p, err := in.Request(keyList)
	if err != nil {
		return nil, err
	}
	q := notify.Query{Line: h.line, Contract: contract.ID(in.Contract.Value)}
	if in.Kind != "" {
		if q.Kind, err = web.ParseEnum("kind", in.Kind, notify.Kinds()); err != nil {
			return nil, err
		}
	}
	if in.Status != "" {
		if q.Status, err = web.ParseEnum("status", in.Status, notify.Statuses); err != nil {
			return nil, err
		}
	}
	list, total, err := h.messages.MessagesWhere(ctx, web.CallerOf(ctx).Shop.ID, q, p)
	if err != nil {
		return nil, err
	}
	out := &notificationPage{ListHeaders: web.Paged(ctx, p, total), Body: make([]notification, len(list))}
	for i, m := range list {
		out.Body[i] = newNotification(m)
	}
	return out, nil
}

type notificationQuery struct {
	ID int64 `path:"id" minimum:"1" maximum:"9007199254740991" doc:"The message."`
}

type notificationOut struct{ Body notification }

func (h notificationHandlers) resend(ctx context.Context, in *notificationQuery) (*notificationOut, error) {
	caller := web.CallerOf(ctx)
	is, err := h.messages.Message(ctx, caller.Shop.ID, h.line, notify.MessageID(in.ID))
	if err != nil {
		return nil, err
	}
	again, err := h.resender.Resend(ctx, caller.Shop.ID, is.ID, caller.Actor)
	if err != nil {
		return nil, err
	}
	return &notificationOut{newNotification(again)}, nil
}
