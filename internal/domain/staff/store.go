package staff

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/task"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// UserTx is one transaction on users, who belong to no one store.
type UserTx interface {
	AccountTx
	SessionTx
	ResetTx
	ThrottleTx
	Enqueue(ctx context.Context, tasks ...task.Task) error
	// In binds the rest of the transaction, until it is bound to another store, to a store.
	// What was bound before must not be used any more.
	In(ctx context.Context, of shop.ID) (ShopTx, error)
}

// AccountTx reads and writes users.
type AccountTx interface {
	// UserByEmail and UserByID return a user, locked, or NotFound.
	UserByEmail(ctx context.Context, email string) (User, error)
	UserByID(ctx context.Context, id UserID) (User, error)
	// PutUser inserts a user whose ID is 0, giving it one, or replaces it under the version
	// rule. An address that another user has is a Conflict.
	PutUser(ctx context.Context, u *User) error
}

// SessionTx writes sessions.
type SessionTx interface {
	AddUserSession(ctx context.Context, s Session) error
	TouchUserSession(ctx context.Context, h Hash, at time.Time) error
	// EndUserSession deletes a session, if it exists.
	EndUserSession(ctx context.Context, h Hash) error
	// EndUserSessions deletes every session of a user except one; the zero Hash spares none.
	EndUserSessions(ctx context.Context, id UserID, except Hash) error
}

// ResetTx reads and writes resets of passwords.
type ResetTx interface {
	// AddReset stores a reset and deletes the others of its user.
	AddReset(ctx context.Context, r Reset) error
	// UseReset deletes and returns a reset, or NotFound.
	UseReset(ctx context.Context, h Hash) (Reset, error)
}

// ThrottleTx reads and writes rate limits.
type ThrottleTx interface {
	// UserThrottle returns what is counted of a subject, locked.
	UserThrottle(ctx context.Context, subject string) (Throttle, error)
	// PutUserThrottle writes what is counted and deletes some counts that expired by now.
	PutUserThrottle(ctx context.Context, t Throttle, now time.Time) error
}

// ShopTx reads and writes what one store has of its users.
type ShopTx interface {
	notify.Outbox
	Shop(ctx context.Context) (shop.Shop, error)
	// StaffMembers returns the members, removed ones too, locked, in the order in which they joined.
	StaffMembers(ctx context.Context) ([]Member, error)
	// PutStaffMember inserts a member whose Version is 0, or replaces it under the version rule.
	PutStaffMember(ctx context.Context, m *Member) error
	// AddInvitation stores an invitation, giving it an id.
	AddInvitation(ctx context.Context, i *Invitation) error
	// Invitation returns the invitation with the hash, locked, or NotFound.
	Invitation(ctx context.Context, h Hash) (Invitation, error)
	// EndInvitations ends the open invitations of an address. It returns how many there were.
	EndInvitations(ctx context.Context, email string, at time.Time) (int, error)
	Record(ctx context.Context, entries ...activity.Entry) error
}

// Store runs transactions and reads.
type Store interface {
	// UpdateUsers runs fn in a transaction. The database may ask for fn to be run again.
	UpdateUsers(ctx context.Context, fn func(UserTx) error) error

	// ShopByDomain returns a store, or NotFound.
	ShopByDomain(ctx context.Context, domain string) (shop.Shop, error)
	UserReader
	MemberReader
}

// UserReader reads users without a transaction.
type UserReader interface {
	// UserSession returns a session, or NotFound.
	UserSession(ctx context.Context, h Hash) (Session, error)
	// UserSessions returns the sessions of a user that expire after now, the one that was
	// used last first.
	UserSessions(ctx context.Context, id UserID, now time.Time) ([]Session, error)
	// User returns a user, or NotFound.
	User(ctx context.Context, id UserID) (User, error)
	// Memberships returns the stores of a user, by domain.
	Memberships(ctx context.Context, id UserID) ([]Membership, error)
	// ResetByHash returns a reset, or NotFound.
	ResetByHash(ctx context.Context, h Hash) (Reset, error)
}

// MemberReader reads what one store has of its users, without a transaction.
type MemberReader interface {
	// InvitationByHash returns an invitation of a store, or NotFound.
	InvitationByHash(ctx context.Context, of shop.ID, h Hash) (Invitation, error)
	// OpenInvitations returns the invitations of a store that are open, newest first.
	OpenInvitations(ctx context.Context, of shop.ID, now time.Time) ([]Invitation, error)
	// People returns the members of a store who were not removed, in the order in which
	// they joined.
	People(ctx context.Context, of shop.ID) ([]Person, error)
	// PlatformMember returns the member with the platform's id of a user, also when removed,
	// or NotFound.
	PlatformMember(ctx context.Context, of shop.ID, platformUser string) (Member, error)
}
