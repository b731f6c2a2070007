package platform

import "context"

// AccountClient is a store's client of the platform's customer accounts, as its merchant has made it
// there.
type AccountClient struct {
	Shop   string // domain of the store
	ID     string // client id
	Secret Token  // client secret; "": the client is a public one
}

// AccountRequest is what a sign-in with a customer account begins with. The same finishes it.
type AccountRequest struct {
	Redirect string // to which the platform sends the browser back; the merchant has registered it
	State    string
	Nonce    string
	Verifier string // of PKCE
}

// Account is a customer who has signed in to their account at a store.
type Account struct {
	Customer int64 // the platform's number of the customer
	IDToken  Token // says so; the platform wants it when the customer signs out
}

// Accounts signs customers in at the platform (OpenID Connect). An ID token that is not genuine is a
// fault of kind Unauthenticated. What the platform does not accept is a *Refusal with a code of
// Authorizer. All other failures say that the platform does not answer now.
type Accounts interface {
	// SignInURL returns the address at which a customer signs in.
	SignInURL(ctx context.Context, c AccountClient, r AccountRequest) (string, error)
	// Account returns the customer who came back from the platform with a code. A code works once.
	Account(ctx context.Context, c AccountClient, r AccountRequest, code string) (Account, error)
	// SignOutURL returns the address at which a customer who has signed in signs out. The platform
	// then sends the browser back to an address that the merchant has registered.
	SignOutURL(ctx context.Context, c AccountClient, idToken Token, back string) (string, error)
}
