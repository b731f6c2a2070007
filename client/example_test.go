package client_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/perennialhq/perennial/client"
)

// sandbox stands in for `make run`, so that the example runs anywhere.
func sandbox() string {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `[{"subscriptionContractId":9001,"status":"active"}]`)
	})).URL
}

func Example() {
	c := client.New(sandbox(), "prn_…")
	contracts, err := c.SearchContracts(context.Background(), &client.SearchContractsParams{Status: new("active"), Size: new(int64(2))})
	for _, contract := range contracts {
		fmt.Println(contract.SubscriptionContractID, contract.Status)
	}
	fmt.Println(err)
	// Output:
	// 9001 active
	// <nil>
}
