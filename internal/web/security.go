package web

import "github.com/danielgtaylor/huma/v2"

// Names of the security schemes in the document.
const (
	headerScheme  = "apiKey"
	queryScheme   = "apiKeyQuery"
	appScheme     = "application"
	proxyScheme   = "appProxy"
	tokenScheme   = "portalToken"
	sessionScheme = "portalSession"
)

// curlCredentials are the arguments of curl by security scheme.
func curlCredentials() map[string]string {
	return map[string]string{
		headerScheme: `-H "` + keyHeader + `: $API_KEY"`,
		appScheme:    `-u "$APP_ID:$APP_SECRET"`,
		proxyScheme:  `-b "$SESSION"`,
	}
}

// schemes describes how callers say who they are.
func (g Gate) schemes() map[string]*huma.SecurityScheme {
	if g.Shoppers != nil {
		return map[string]*huma.SecurityScheme{
			proxyScheme:   {Type: "apiKey", In: "query", Name: "signature", Description: "The signature that the platform's app proxy adds to a request at the store's domain. The shopper's session there identifies them: send nothing."},
			tokenScheme:   {Type: "http", Scheme: "bearer", Description: "A portal token, on the service's own address: of one customer of one store, for two hours. A merchant's server asks for it with GET /api/external/v2/customer-portal-token."},
			sessionScheme: {Type: "apiKey", In: "cookie", Name: "__Host-portal", Description: "The session of a customer who signed in with a link, on the service's own address."},
		}
	}
	if g.Apps {
		return map[string]*huma.SecurityScheme{
			appScheme: {Type: "http", Scheme: "basic", Description: "The application's id and its secret."},
		}
	}
	return map[string]*huma.SecurityScheme{
		headerScheme: {Type: "apiKey", In: "header", Name: keyHeader, Description: "A key of the store, or the token of a partner's connection. A partner's application that was given a key names itself in " + appKeyHeader + "."},
		queryScheme:  {Type: "apiKey", In: "query", Name: keyParam, Description: "Deprecated: send the header instead."},
	}
}

// security lists the schemes; one of them is enough.
func (g Gate) security() []map[string][]string {
	if g.Shoppers != nil {
		return []map[string][]string{{proxyScheme: {}}, {tokenScheme: {}}, {sessionScheme: {}}}
	}
	if g.Apps {
		return []map[string][]string{{appScheme: {}}}
	}
	return []map[string][]string{{headerScheme: {}}, {queryScheme: {}}}
}
