; Light in a disc of glass with a hole, in two dimensions: 20 units of time, 800 time steps.
(set! geometry-lattice (make lattice (size 15 14 no-size)))
(set-param! resolution 20)
(define glass (make dielectric (epsilon 9)))
(set! geometry
  (list (make cylinder (center 0 0) (height infinity) (radius 3) (material glass))
        (make cylinder (center 0 0) (height infinity) (radius 1.5) (material air))))
(set! pml-layers (list (make pml (thickness 1.5))))
(set! sources
  (list (make source (src (make gaussian-src (frequency 0.2) (fwidth 0.15))) (component Ez) (center 2.2 0))))
(run-until 20 (at-beginning output-epsilon))
