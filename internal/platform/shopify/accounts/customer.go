package accounts

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/platform"
)

// customerQuery asks the Customer Account API who the access token is of.
const customerQuery = "query SignedInCustomer { customer { id } }"

// customer returns the number of the customer whose access token it is. The API is asked because what
// the subject of an ID token is, the platform does not promise.
func (c *Client) customer(ctx context.Context, e endpoints, of platform.AccountClient, r platform.AccountRequest, access string) (int64, error) {
	body, err := json.Marshal(map[string]string{"query": customerQuery})
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.GraphQL, bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("make a request to the Customer Account API: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Authorization", access) // without a scheme: so the API wants it
	var answer struct {
		Data struct {
			Customer struct {
				ID string `json:"id"`
			} `json:"customer"`
		} `json:"data"`
	}
	if err := answered(c.from(of, r.Redirect), req, &answer); err != nil {
		return 0, err
	}
	number, err := gid.Parse("Customer", answer.Data.Customer.ID)
	if err != nil {
		return 0, fmt.Errorf("%w: the Customer Account API names no customer", platform.ErrUnknown)
	}
	return number, nil
}
