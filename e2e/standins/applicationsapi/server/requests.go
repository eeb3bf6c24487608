package server

import (
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/cozystack/gitops-operator/e2e/standins/applicationsapi/catalog"
	"github.com/cozystack/gitops-operator/e2e/standins/applicationsapi/registry"
)

// shortestWatch is how long a watch lasts at least, unless its client wants less.
const shortestWatch = 30 * time.Minute

// patchTypes are the ways to patch. A strategic merge is not among them: kinds without a
// Go type have no strategy.
var patchTypes = []string{string(types.JSONPatchType), string(types.MergePatchType), string(types.ApplyYAMLPatchType)}

// served is what answers the requests for one kind.
type served struct {
	scope   *handlers.RequestScope
	storage *registry.Applications
}

// requests answers the requests for applications.
type requests struct {
	kinds     map[string]served
	admission admission.Interface
}

func (r *requests) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	info, found := request.RequestInfoFrom(req.Context())
	kind, served := served{}, false
	if found && info.IsResourceRequest && info.Subresource == "" {
		kind, served = r.kinds[info.Resource]
	}
	if !served {
		http.NotFound(w, req)
		return
	}
	r.handlerOf(kind, info)(w, req)
}

func (r *requests) handlerOf(kind served, info *request.RequestInfo) http.HandlerFunc {
	storage, scope := kind.storage, kind.scope
	switch info.Verb {
	case "get":
		return handlers.GetResource(storage, scope)
	case "list":
		return handlers.ListResource(storage, storage, scope, false, shortestWatch)
	case "watch":
		return handlers.ListResource(storage, storage, scope, true, shortestWatch)
	case "create":
		return handlers.CreateResource(storage, scope, r.admission)
	case "update":
		return handlers.UpdateResource(storage, scope, r.admission)
	case "patch":
		return handlers.PatchResource(storage, scope, r.admission, patchTypes)
	case "delete":
		return handlers.DeleteResource(storage, true, scope, r.admission)
	}
	return func(w http.ResponseWriter, req *http.Request) {
		resource := schema.GroupResource{Group: catalog.GroupVersion.Group, Resource: info.Resource}
		responsewriters.ErrorNegotiated(apierrors.NewMethodNotSupported(resource, info.Verb), codecs, catalog.GroupVersion, w, req)
	}
}
