package staff

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/secret"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// entity is what failures are about.
const entity = "user"

// How long sessions and one-time links last.
const (
	sessionLife = 14 * 24 * time.Hour
	idleLife    = 24 * time.Hour
	// pendingLife is how long a user has for the second factor.
	pendingLife    = 10 * time.Minute
	invitationLife = 72 * time.Hour
	resetLife      = time.Hour
	// lastUseResolution is how exactly the last use of a session is known.
	lastUseResolution = 5 * time.Minute
)

// SessionLife is how long a session lasts at most.
const SessionLife = sessionLife

// UserID is the service's number of a user.
type UserID int64

// User is a person, who may belong to several stores.
type User struct {
	ID        UserID
	Email     string // lower case; empty for a user that only the platform knows
	Name      string
	Password  PasswordHash
	Factor    SecondFactor
	CreatedAt time.Time
	Version   int64
}

// Known returns how the user is named in lists and in the activity log.
func (u User) Known() string {
	if u.Email != "" {
		return u.Email
	}
	return u.Name
}

// Member is a user of a store.
type Member struct {
	User         UserID
	Role         Role
	PlatformUser string // the platform's id of the user in the store; empty: not known
	AddedBy      string
	CreatedAt    time.Time
	RemovedAt    time.Time // zero: the user belongs to the store
	Version      int64
}

// Person is a member with what is shown of the user.
type Person struct {
	Member
	Email       string
	Name        string
	HasPassword bool
	TwoFactor   bool
}

// Known returns how the person is named.
func (p Person) Known() string { return User{Email: p.Email, Name: p.Name}.Known() }

// InvitationID is the service's number of an invitation.
type InvitationID int64

// Invitation lets a person join a store once.
type Invitation struct {
	ID        InvitationID
	Email     string // lower case
	Role      Role
	Hash      Hash
	InvitedBy string
	CreatedAt time.Time
	ExpiresAt time.Time
	EndedAt   time.Time // when it was accepted or withdrawn; zero: it is open
}

func (i Invitation) open(now time.Time) bool { return i.EndedAt.IsZero() && now.Before(i.ExpiresAt) }

// Hash is what is stored of a secret: of a session, a reset, an invitation or a recovery code.
type Hash = secret.Hash

// Session is a user who is signed in, or who still has to bring the second factor.
type Session struct {
	Hash      Hash
	User      UserID
	Pending   bool // the second factor is missing
	Client    string
	Agent     string // User-Agent, shortened
	CreatedAt time.Time
	SeenAt    time.Time // to within lastUseResolution
	ExpiresAt time.Time
}

func (s Session) alive(now time.Time) bool {
	return now.Before(s.ExpiresAt) && now.Before(s.SeenAt.Add(idleLife))
}

// Reset lets a user set a new password once.
type Reset struct {
	Hash      Hash
	User      UserID
	ExpiresAt time.Time
}

// Membership is a store that a user belongs to.
type Membership struct {
	Shop   shop.ID
	Domain string
	Role   Role
}

// Client is where a request comes from.
type Client struct {
	IP    string
	Agent string
}

// maxAgent is how much of a User-Agent is stored, in bytes.
const maxAgent = 200

func (c Client) agent() string {
	agent := strings.ToValidUTF8(c.Agent, "")
	if len(agent) > maxAgent {
		agent = strings.ToValidUTF8(agent[:maxAgent], "")
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, agent)
}

// actor returns the user as the activity log names one.
func actor(by string, c Client) activity.Actor {
	return activity.Actor{Source: activity.MerchantPortal, By: by, ClientIP: c.IP}
}

// parseEmail returns an address as it is stored.
func parseEmail(email string) (string, error) {
	email = strings.ToLower(strings.TrimSpace(email))
	return email, notify.CheckAddress("email", email)
}

// maxName is the longest name of a user, in characters.
const maxName = 80

func parseName(name string) (string, error) {
	name = strings.Join(strings.Fields(name), " ")
	if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) || utf8.RuneCountInString(name) > maxName {
		return "", fault.New(fault.Invalid, "a name has at most %d characters and none that controls a terminal", maxName).Entity(entity).Code("nameInvalid").Field("name")
	}
	return name, nil
}
