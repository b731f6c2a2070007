package shopper

import (
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

// OfContract names a contract by its path.
type OfContract struct {
	Contract string `path:"contractId" format:"id" example:"9001" doc:"The contract: number or graph id, percent-encoded."`
	Versioned
}

// Versioned is a change of a contract as its caller has seen it.
type Versioned struct {
	Version web.Opt[int64] `query:"version" minimum:"1" doc:"Version of the contract that the shopper has seen. 409 changedMeanwhile when it has another one now. Absent: not compared."`
}

// ref names the contract and its version.
func (in OfContract) ref() (portal.ContractRef, error) {
	return in.Versioned.ref("contractId", in.Contract)
}

func (in Versioned) ref(param, id string) (portal.ContractRef, error) {
	of, err := web.ParseID(record.ContractTypename, param, id)
	return portal.ContractRef{ID: contract.ID(of), Version: in.Version.Value}, err
}

// bodyIn is a change of a contract that a JSON body describes.
type bodyIn struct {
	OfContract
	web.JSONBody
}

// contractOut answers a change with the contract as it is then.
type contractOut struct{ Body record.ContractObject }

func newContractOut(d contract.Detail, err error) (*contractOut, error) {
	if err != nil {
		return nil, err
	}
	return &contractOut{record.NewContractObject(d)}, nil
}
