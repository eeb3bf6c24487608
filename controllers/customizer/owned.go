package customizer

import (
	"context"
	"fmt"
	"slices"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/customizer"
)

var serviceAccountKind = corev1.SchemeGroupVersion.WithKind("ServiceAccount")

// makeNamespaces makes the namespaces that are not there. One that is, is left as it is,
// whoever made it: the repository may well have a manifest of it.
func (r *Reconciler) makeNamespaces(ctx context.Context, stack *customizer.Stack) error {
	for _, namespace := range stack.Namespaces {
		stored := &metav1.PartialObjectMetadata{}
		stored.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
		err := r.Live.Get(ctx, client.ObjectKeyFromObject(namespace), stored)
		switch {
		case err == nil && !stored.DeletionTimestamp.IsZero():
			return &refusal{gitopsv1.ReasonProgressing, fmt.Sprintf("namespace %s is being deleted; it is made again when it is gone", namespace.Name)}
		case err == nil:
			continue
		case !apierrors.IsNotFound(err):
			return fmt.Errorf("cannot read Namespace %s: %w", namespace.Name, err)
		}
		if err := r.Client.Create(ctx, namespace.DeepCopy(), fieldOwner); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("cannot create Namespace %s: %w", namespace.Name, err)
		}
	}
	return nil
}

// withdraw takes away the rights that a Customizer does not have any more: another profile's,
// those in namespaces that are not its own now, and extra rules.
func (r *Reconciler) withdraw(ctx context.Context, c *gitopsv1.Customizer, stack *customizer.Stack) error {
	role := ""
	if stack != nil {
		role = customizer.ProfileRole(c.Spec.RBAC.Profile)
	}
	if err := r.withdrawBinding(ctx, c, c.Status.Account, role); err != nil {
		return err
	}
	if stack == nil || len(stack.Extra) == 0 {
		extra := customizer.ExtraRole(c.Status.Account)
		if err := r.withdrawBinding(ctx, c, extra, ""); err != nil {
			return err
		}
		if err := r.remove(ctx, c, &rbacv1.ClusterRole{}, client.ObjectKey{Name: extra}); err != nil {
			return err
		}
	}
	var bindings rbacv1.RoleBindingList
	if err := r.Live.List(ctx, &bindings, client.MatchingLabels{customizer.Label: c.Name}); err != nil {
		return fmt.Errorf("cannot list the RoleBindings of Customizer %s: %w", c.Name, err)
	}
	for i := range bindings.Items {
		binding := &bindings.Items[i]
		wanted := stack != nil && slices.ContainsFunc(stack.Access, func(obj client.Object) bool {
			_, isBinding := obj.(*rbacv1.RoleBinding)
			return isBinding && obj.GetNamespace() == binding.Namespace && obj.GetName() == binding.Name
		})
		if wanted || binding.Name != c.Status.Account {
			continue
		}
		if err := r.Applier.Delete(ctx, binding); err != nil {
			return err
		}
	}
	return nil
}

// withdrawBinding deletes a ClusterRoleBinding that is for another role, which cannot be
// changed, or that is not to be there at all.
func (r *Reconciler) withdrawBinding(ctx context.Context, c *gitopsv1.Customizer, name, role string) error {
	binding := &rbacv1.ClusterRoleBinding{}
	if err := r.Live.Get(ctx, client.ObjectKey{Name: name}, binding); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("cannot read ClusterRoleBinding %s: %w", name, err)
	}
	if binding.Labels[customizer.Label] != c.Name || role != "" && binding.RoleRef.Name == role {
		return nil
	}
	return r.Applier.Delete(ctx, binding)
}

// remove deletes an object if it was stamped for the Customizer.
func (r *Reconciler) remove(ctx context.Context, c *gitopsv1.Customizer, obj client.Object, key client.ObjectKey) error {
	if err := r.Live.Get(ctx, key, obj); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("cannot read %T %s: %w", obj, key, err)
	}
	if obj.GetLabels()[customizer.Label] != c.Name {
		return nil
	}
	return r.Applier.Delete(ctx, obj)
}

// removeOtherSource deletes the source of the other kind, where a repository has moved from git
// to a registry or back. The Kustomization does not name it any more.
func (r *Reconciler) removeOtherSource(ctx context.Context, stack *customizer.Stack) error {
	var other client.Object = &sourcev1.OCIRepository{}
	if _, isOCI := stack.Fetched.(*sourcev1.OCIRepository); isOCI {
		other = &sourcev1.GitRepository{}
	}
	if err := r.Flux.Get(ctx, client.ObjectKeyFromObject(stack.Fetched), other); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("cannot read %T %s: %w", other, client.ObjectKeyFromObject(stack.Fetched), err)
	}
	return r.Applier.Delete(ctx, other)
}
