# The operator and nothing else; "make image" builds it.
FROM scratch
COPY bin/gitops-operator /gitops-operator
USER 65532:65532
ENTRYPOINT ["/gitops-operator"]
