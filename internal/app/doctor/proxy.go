package doctor

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/shop"
)

// portalPath is a path of the portal at a store's domain. Without a shopper who is signed
// in, it is answered with 401.
const portalPath = "/apps/subscriptions/cp/api/subscriptions-contracts-freeze-status-detail"

// maxProblem is how much of an answer is read, in bytes.
const maxProblem = 64 << 10

// proxy checks that the store's own domain leads here by way of the platform.
func proxy(ctx context.Context, c *checkup, s shop.Shop) Finding {
	if !strings.Contains(c.Settings.PlatformURL, "{shop}") {
		return notChecked("PERENNIAL_PLATFORM_URL is not the store's own domain")
	}
	at := strings.ReplaceAll(c.Settings.PlatformURL, "{shop}", s.Domain) + portalPath
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return failed("check PERENNIAL_PLATFORM_URL", "%v", err)
	}
	req.Header.Set("Accept", "application/json")
	res, err := c.web.Do(req)
	if err != nil {
		return notChecked("the store's domain does not answer: %v", err)
	}
	defer res.Body.Close() //nolint:errcheck // only read
	var p struct {
		Code string `json:"errorKey"`
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxProblem))
	ours := err == nil && json.Unmarshal(body, &p) == nil && p.Code != ""
	const configure = "give the app the prefix apps, the subpath subscriptions and the proxy URL …/apps/subscriptions of the public address (docs/operating.md, \"The portal at a store's domain\")"
	switch {
	case res.StatusCode/100 == 3 && strings.HasSuffix(res.Header.Get("Location"), "/password"):
		return notChecked("the storefront is closed by a password")
	case ours && (p.Code == "signatureInvalid" || p.Code == "signatureExpired"):
		return failed("set PERENNIAL_APP_SECRET to the client secret of the app whose proxy this is, and check the clock", "the platform forwards requests, but its signature is not accepted (%s)", p.Code)
	case ours && res.StatusCode == http.StatusUnauthorized:
		return ok("%s leads here", at)
	case res.StatusCode == http.StatusNotFound:
		return warning(configure+"; when the merchant has chosen another path, this check cannot know it", "%s leads nowhere", at)
	}
	return failed(configure, "%s answers %d, and not as this service does", at, res.StatusCode)
}
