package dashboard

import (
	"context"
	"net/http"
	"strings"
)

type secretKey struct{}

// withoutSecret takes the secret of a link out of the path before the path is logged.
func withoutSecret(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := strings.TrimSuffix(r.URL.Path, "/")
		kept, secret := "", ""
		if rest, found := strings.CutPrefix(p, "/admin/reset/"); found {
			kept, secret = "/admin/reset/link", rest
		} else if rest, found := strings.CutPrefix(p, "/admin/invitation/"); found {
			handle, value, _ := strings.Cut(rest, "/")
			kept, secret = "/admin/invitation/"+handle, value
		}
		if kept != "" {
			u := *r.URL
			u.Path, u.RawPath = kept, ""
			r = r.WithContext(context.WithValue(r.Context(), secretKey{}, secret))
			r.URL = &u
		}
		next.ServeHTTP(w, r)
	})
}

func secretOf(r *http.Request) string {
	secret, _ := r.Context().Value(secretKey{}).(string)
	return secret
}
