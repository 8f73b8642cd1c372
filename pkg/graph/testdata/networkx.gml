graph [
  directed 1
  node [
    id 0
    label "rain"
  ]
  node [
    id 1
    label "wet"
  ]
  node [
    id 2
    label "sprinkler"
  ]
  node [
    id 3
    label "slip"
  ]
  edge [
    source 0
    target 1
  ]
  edge [
    source 1
    target 3
  ]
  edge [
    source 2
    target 1
  ]
]
