"""List the classes of scikit-learn by their short names, without importing all of scikit-learn."""

from __future__ import annotations

from functools import cache

# Printed by tools/estimator_names.py: the classes of scikit-learn 1.9 by kind and module.
_TABLE = """
classifier sklearn.calibration CalibratedClassifierCV
classifier sklearn.discriminant_analysis LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis
classifier sklearn.dummy DummyClassifier
classifier sklearn.ensemble AdaBoostClassifier BaggingClassifier ExtraTreesClassifier GradientBoostingClassifier
classifier sklearn.ensemble HistGradientBoostingClassifier RandomForestClassifier StackingClassifier VotingClassifier
classifier sklearn.gaussian_process GaussianProcessClassifier
classifier sklearn.linear_model LogisticRegression LogisticRegressionCV PassiveAggressiveClassifier Perceptron
classifier sklearn.linear_model RidgeClassifier RidgeClassifierCV SGDClassifier
classifier sklearn.model_selection FixedThresholdClassifier TunedThresholdClassifierCV
classifier sklearn.multiclass OneVsOneClassifier OneVsRestClassifier OutputCodeClassifier
classifier sklearn.multioutput ClassifierChain MultiOutputClassifier
classifier sklearn.naive_bayes BernoulliNB CategoricalNB ComplementNB GaussianNB MultinomialNB
classifier sklearn.neighbors KNeighborsClassifier NearestCentroid RadiusNeighborsClassifier
classifier sklearn.neural_network MLPClassifier
classifier sklearn.semi_supervised LabelPropagation LabelSpreading SelfTrainingClassifier
classifier sklearn.svm LinearSVC NuSVC SVC
classifier sklearn.tree DecisionTreeClassifier ExtraTreeClassifier
regressor sklearn.compose TransformedTargetRegressor
regressor sklearn.cross_decomposition CCA PLSCanonical PLSRegression
regressor sklearn.dummy DummyRegressor
regressor sklearn.ensemble AdaBoostRegressor BaggingRegressor ExtraTreesRegressor GradientBoostingRegressor
regressor sklearn.ensemble HistGradientBoostingRegressor RandomForestRegressor StackingRegressor VotingRegressor
regressor sklearn.gaussian_process GaussianProcessRegressor
regressor sklearn.isotonic IsotonicRegression
regressor sklearn.kernel_ridge KernelRidge
regressor sklearn.linear_model ARDRegression BayesianRidge ElasticNet ElasticNetCV GammaRegressor HuberRegressor Lars
regressor sklearn.linear_model LarsCV Lasso LassoCV LassoLars LassoLarsCV LassoLarsIC LinearRegression
regressor sklearn.linear_model MultiTaskElasticNet MultiTaskElasticNetCV MultiTaskLasso MultiTaskLassoCV
regressor sklearn.linear_model OrthogonalMatchingPursuit OrthogonalMatchingPursuitCV PassiveAggressiveRegressor
regressor sklearn.linear_model PoissonRegressor QuantileRegressor RANSACRegressor Ridge RidgeCV SGDRegressor
regressor sklearn.linear_model TheilSenRegressor TweedieRegressor
regressor sklearn.multioutput MultiOutputRegressor RegressorChain
regressor sklearn.neighbors KNeighborsRegressor RadiusNeighborsRegressor
regressor sklearn.neural_network MLPRegressor
regressor sklearn.svm LinearSVR NuSVR SVR
regressor sklearn.tree DecisionTreeRegressor ExtraTreeRegressor
transformer sklearn.cluster Birch BisectingKMeans FeatureAgglomeration KMeans MiniBatchKMeans
transformer sklearn.compose ColumnTransformer
transformer sklearn.cross_decomposition PLSSVD
transformer sklearn.decomposition DictionaryLearning FactorAnalysis FastICA IncrementalPCA KernelPCA
transformer sklearn.decomposition LatentDirichletAllocation MiniBatchDictionaryLearning MiniBatchNMF MiniBatchSparsePCA
transformer sklearn.decomposition NMF PCA SparseCoder SparsePCA TruncatedSVD
transformer sklearn.ensemble RandomTreesEmbedding
transformer sklearn.feature_extraction DictVectorizer FeatureHasher
transformer sklearn.feature_extraction.image PatchExtractor
transformer sklearn.feature_extraction.text HashingVectorizer TfidfTransformer
transformer sklearn.feature_selection GenericUnivariateSelect RFE RFECV SelectFdr SelectFpr SelectFromModel SelectFwe
transformer sklearn.feature_selection SelectKBest SelectPercentile SequentialFeatureSelector VarianceThreshold
transformer sklearn.impute KNNImputer MissingIndicator SimpleImputer
transformer sklearn.kernel_approximation AdditiveChi2Sampler Nystroem PolynomialCountSketch RBFSampler SkewedChi2Sampler
transformer sklearn.manifold Isomap LocallyLinearEmbedding TSNE
transformer sklearn.neighbors KNeighborsTransformer NeighborhoodComponentsAnalysis RadiusNeighborsTransformer
transformer sklearn.neural_network BernoulliRBM
transformer sklearn.pipeline FeatureUnion
transformer sklearn.preprocessing Binarizer FunctionTransformer KBinsDiscretizer KernelCenterer LabelBinarizer
transformer sklearn.preprocessing LabelEncoder MaxAbsScaler MinMaxScaler MultiLabelBinarizer Normalizer OneHotEncoder
transformer sklearn.preprocessing OrdinalEncoder PolynomialFeatures PowerTransformer QuantileTransformer RobustScaler
transformer sklearn.preprocessing SplineTransformer StandardScaler TargetEncoder
transformer sklearn.random_projection GaussianRandomProjection SparseRandomProjection
"""


@cache
def get_sklearn_class_paths(kind: str = "") -> dict[str, str]:
    """Return the paths of scikit-learn's classes by their short names such as ``LinearSVC``.

    `kind` is ``classifier``, ``regressor`` or ``transformer``; "" stands for all three. The dict is shared by all
    callers; do not change it.
    """
    lines = map(str.split, _TABLE.strip().splitlines())
    return {name: f"{module}.{name}" for own, module, *names in lines if kind in ("", own) for name in names}


def find_similar_class_of_other_kind(name: str, wants_regressor: bool) -> str:
    """Return the name of scikit-learn's regressor that is most like a classifier, or the other way round.

    `name` is that of a classifier if a regressor is wanted, else of a regressor. Without a similar class, return
    ``Ridge`` or ``LogisticRegression``.
    """
    endings = [("Classifier", "Regressor"), ("SVC", "SVR"), ("LogisticRegression", "LinearRegression")]
    known = get_sklearn_class_paths("regressor" if wants_regressor else "classifier")
    candidates = [name.replace(*(ends if wants_regressor else ends[::-1])) for ends in endings]
    candidates += name.removesuffix("Classifier"), f"{name}Classifier"
    return next((each for each in candidates if each in known), "Ridge" if wants_regressor else "LogisticRegression")
