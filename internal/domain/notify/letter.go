package notify

import (
	"errors"
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
)

// Recipient is who the messages about a contract go to.
type Recipient struct {
	Contract  contract.ID
	Customer  int64 // the platform's number
	Email     string
	Origin    contract.Origin
	CreatedAt time.Time // of the contract
}

// Letter is what one e-mail says. It reports one message, or several that belong together.
type Letter struct {
	Content

	FromName    string // whose name the sender's address carries
	ReplyTo     string // address that replies go to; empty: the sender's
	Unsubscribe string // where one request ends messages of its kind (RFC 8058); empty: the kind is always sent
	// LeftOut says why messages are not in it: what they report holds no longer. A letter that
	// leaves out all of its messages is not sent.
	LeftOut map[MessageID]string
}

// Email is a message as a mail server gets it.
type Email struct {
	ID       string // for the Message-ID: the same whenever the message is sent
	Kind     Kind
	To       string
	FromName string
	Content
	ReplyTo     string // as in Letter
	Unsubscribe string // as in Letter
	At          time.Time
}

// ErrRejected marks the failure of a message that will never be taken.
var ErrRejected = errors.New("the mail server rejects the message")
