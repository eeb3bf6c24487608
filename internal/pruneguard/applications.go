package pruneguard

import kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

// Applications are those in the stored inventory of a Kustomization.
func Applications(k *kustomizev1.Kustomization) map[Application]bool { return applications(k) }
